// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +k8s:protobuf-gen=package
// +k8s:openapi-gen=true
// +k8s:prerelease-lifecycle-gen=true
// +k8s:openapi-model-package=io.k8s.api.admissionregistration.v1beta1
// +groupName=admissionregistration.k8s.io

// Package v1beta1 is the beta version of the policy kinds of
// admissionregistration.k8s.io. Spec and status have the types of v1.
package v1beta1
