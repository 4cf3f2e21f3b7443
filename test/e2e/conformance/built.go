// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build conformance

package main

// Imports of the programs that `make conformance` builds, so that go.mod and go.sum keep their dependencies.
import (
	_ "k8s.io/kubectl/pkg/cmd"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/test/e2e"
)
