// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build conformance

package main

// The programs that `make conformance` and `make kubeadm-e2e` build. The imports keep their
// dependencies in go.mod and go.sum.
import (
	_ "k8s.io/kubectl/pkg/cmd"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kubeadm/app"
	_ "k8s.io/kubernetes/test/e2e"
)
