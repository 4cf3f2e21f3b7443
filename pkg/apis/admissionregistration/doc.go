// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=admissionregistration.k8s.io

// Package admissionregistration holds the internal version of the policy kinds:
// the hub that all served versions convert to and that strategies and validation
// work on. It shares the Spec and Status structs of celador.io/api v1.
package admissionregistration
