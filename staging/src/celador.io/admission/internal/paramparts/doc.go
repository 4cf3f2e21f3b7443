// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paramparts compares param objects by the parts that expressions read, so that params with
// equal parts share the results of the expressions.
package paramparts
