// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/runtime"

// localSchemeBuilder registers the conversions to and from Kubernetes' types. The scheme need not
// know the types.
var localSchemeBuilder runtime.SchemeBuilder
