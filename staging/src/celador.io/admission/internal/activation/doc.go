// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activation provides the values of the variables that admission expressions read: the
// objects of a request, the request itself, its namespace, params and the authorizer. A value is
// created when an expression first reads it. All policies that match a request share its values.
package activation
