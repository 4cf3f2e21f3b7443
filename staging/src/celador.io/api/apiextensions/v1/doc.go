// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +k8s:protobuf-gen=package
// +k8s:openapi-gen=true
// +k8s:prerelease-lifecycle-gen=true
// +k8s:openapi-model-package=io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
// +groupName=apiextensions.k8s.io

// Package v1 is version v1 of CustomResourceDefinition in apiextensions.k8s.io. It
// has the JSON, CBOR and protobuf encodings of
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1. Fields that Kubernetes
// does not have use protobuf numbers from 1000.
package v1
