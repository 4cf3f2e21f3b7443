// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulelimit holds the limits that conversion rules and default rules share.
package rulelimit

const (
	// MaxRules bounds the rules of a converter, and the default rules of a version.
	MaxRules = 500
	// MaxRuleLength bounds the length of an expression in bytes, as for CEL selectors of devices in Kubernetes.
	MaxRuleLength = 10 * 1024
	// MaxPathLength bounds the lengths of scope and field in bytes.
	MaxPathLength = 1024
)
