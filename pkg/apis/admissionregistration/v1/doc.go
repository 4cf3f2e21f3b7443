// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:conversion-gen=celador.io/celador/pkg/apis/admissionregistration
// +k8s:conversion-gen-external-types=celador.io/api/admissionregistration/v1
// +groupName=admissionregistration.k8s.io

// Package v1 registers version v1 of the policy kinds with its defaults, and converts it to the
// internal version.
package v1
