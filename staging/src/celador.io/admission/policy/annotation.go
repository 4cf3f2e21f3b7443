// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "encoding/json"

// Annotation is an audit annotation of a request.
type Annotation struct {
	// Key is the full key: for the annotation of a policy, the policy's name, a slash and
	// spec.auditAnnotations[].key.
	Key   string
	Value string
}

// NewJSONAnnotation returns an annotation whose value is the JSON of content. If content has no
// JSON form, the value is the error, because an audit event must not be lost.
func NewJSONAnnotation(key string, content any) Annotation {
	value, err := json.Marshal(content)
	if err != nil {
		value = []byte(err.Error())
	}
	return Annotation{key, string(value)}
}
