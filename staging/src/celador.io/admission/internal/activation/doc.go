// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activation gives the variables of admission expressions their values: the
// objects of a request, the request itself, its namespace, params and the authorizer.
// Values are made when an expression first reads them, and then kept, so everything
// that examines one request shares them.
package activation
