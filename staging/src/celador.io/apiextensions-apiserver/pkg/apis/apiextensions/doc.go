// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=apiextensions.k8s.io

// Package apiextensions holds the internal version of CustomResourceDefinition. It embeds
// Kubernetes' internal version, so that Kubernetes' validation, strategies and table convertor
// apply to it, and adds the expressions that Kubernetes' types have no fields for.
package apiextensions
