// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import "strconv"

// integers replaces whole floats in a JSON value with integers. It changes maps and lists in place
// and returns the value.
//
// A server that is not written in Go may send 3.0, which decodes to a float. Kubernetes encodes
// params once more before expressions read them, and Go encodes that float as 3.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, element := range v {
			v[key] = integers(element)
		}
	case []any:
		for i, element := range v {
			v[i] = integers(element)
		}
	case float64:
		if integer, err := strconv.ParseInt(strconv.FormatFloat(v, 'f', -1, 64), 10, 64); err == nil {
			return integer
		}
	}
	return value
}
