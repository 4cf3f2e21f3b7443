// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane composes Celador's kube-apiserver out of upstream's
// exported pieces. Everything is upstream's except API group
// admissionregistration.k8s.io and the admission plugins that enforce it.
//
// NewAPIServerCommand, NewConfig, CreateServerChain and Run have the signatures of
// k8s.io/kubernetes/cmd/kube-apiserver/app and take the same options, so that a
// host of upstream's server becomes a host of this one by changing an import.
package controlplane
