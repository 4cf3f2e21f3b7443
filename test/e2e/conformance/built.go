// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build conformance

package main

// What `make conformance` builds besides this program, so that go.mod and go.sum keep what those builds need.
import (
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/test/e2e"
)
