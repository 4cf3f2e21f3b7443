// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"celador.io/admission/values"
)

// Namespace is the namespace of a request. Not safe for concurrent use.
type Namespace struct {
	object *corev1.Namespace
	// made is nil until the value is first read.
	made ref.Val
}

// NewNamespace returns what expressions read as 'namespaceObject': null for nil.
func NewNamespace(object *corev1.Namespace) *Namespace { return &Namespace{object: object} }

// value exposes only the declared fields of a namespace.
func (n *Namespace) value() ref.Val {
	if n.made == nil {
		n.made = values.Of(plugincel.CreateNamespaceObject(n.object))
	}
	return n.made
}
