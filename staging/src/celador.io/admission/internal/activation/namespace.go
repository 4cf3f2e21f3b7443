// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"celador.io/admission/cel/values"
	"celador.io/admission/policyspec"
)

// A Namespace holds the namespace of a request, and its CEL values once expressions have read
// 'namespaceObject'. Not safe for concurrent use.
type Namespace struct {
	object *corev1.Namespace
	// whole and declared are nil until they are first read.
	whole, declared ref.Val
}

// NewNamespace returns the value of 'namespaceObject'. Expressions read null if object is nil.
func NewNamespace(object *corev1.Namespace) *Namespace { return &Namespace{object: object} }

// value returns the value of 'namespaceObject' for expressions of a role, whose NamespaceFields are
// part: the namespace with all fields, or with those that are declared to the CEL compiler. For
// NoNamespace it returns null, and n may be nil.
func (n *Namespace) value(part policyspec.NamespaceFields) ref.Val {
	switch part {
	case policyspec.NoNamespace:
		return types.NullValue
	case policyspec.DeclaredNamespace:
		if n.declared == nil {
			n.declared = values.Of(plugincel.CreateNamespaceObject(n.object))
		}
		return n.declared
	default:
		if n.whole == nil {
			n.whole = values.Of(n.object)
		}
		return n.whole
	}
}
