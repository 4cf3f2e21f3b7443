// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleresult checks the types of the results of conversion rules and default rules, and
// converts results to unstructured values.
//
// Types declares the objects that a rule may construct. Assignable compares the static type of a
// rule with the schema of the field when the CustomResourceDefinition is written. Assign converts
// the result of an evaluation, and checks what has dynamic type.
package ruleresult
