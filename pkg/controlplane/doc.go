// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane assembles Celador's kube-apiserver from packages that Kubernetes exports.
// API group admissionregistration.k8s.io, its admission plugins and its status controller are
// Celador's; everything else is upstream's.
//
// NewAPIServerCommand, NewConfig, CreateServerChain and Run have the signatures and take the
// options of k8s.io/kubernetes/cmd/kube-apiserver/app. A program that embeds upstream's server
// embeds this one after a change of the import path.
package controlplane
