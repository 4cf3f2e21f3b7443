// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +k8s:protobuf-gen=package
// +k8s:openapi-gen=true
// +k8s:prerelease-lifecycle-gen=true
// +k8s:openapi-model-package=io.k8s.api.admissionregistration.v1
// +groupName=admissionregistration.k8s.io

// Package v1 is the stable, stored version of the policy kinds of
// admissionregistration.k8s.io. It has the JSON and protobuf encodings of
// k8s.io/api/admissionregistration/v1. Fields that Kubernetes does not have use
// protobuf numbers from 1000.
package v1
