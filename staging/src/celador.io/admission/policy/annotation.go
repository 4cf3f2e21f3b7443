// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"
)

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

// Annotate adds annotations to the audit event of a request. It logs those that cannot be added.
func Annotate(logger klog.Logger, a admission.Attributes, annotations []Annotation) {
	for _, annotation := range annotations {
		if err := a.AddAnnotation(annotation.Key, annotation.Value); err != nil {
			logger.Error(err, "Failed to set an audit annotation", "key", annotation.Key, "value", annotation.Value)
		}
	}
}
