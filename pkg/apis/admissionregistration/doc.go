// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=admissionregistration.k8s.io

// Package admissionregistration holds the internal version of the policy kinds. All served versions
// convert to it, and the registry's strategies use it. It shares the Spec and Status structs of
// celador.io/api v1.
package admissionregistration
