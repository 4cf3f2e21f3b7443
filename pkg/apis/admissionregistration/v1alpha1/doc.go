// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:conversion-gen=celador.io/celador/pkg/apis/admissionregistration
// +k8s:conversion-gen-external-types=celador.io/api/admissionregistration/v1alpha1
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=celador.io/api/admissionregistration/v1alpha1
// +groupName=admissionregistration.k8s.io

// Package v1alpha1 holds the defaults of version v1alpha1 of the policy kinds and their
// conversion to the internal version.
package v1alpha1
