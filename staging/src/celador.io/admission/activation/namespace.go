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
	// whole and declared are nil until they are first read.
	whole, declared ref.Val
}

// NewNamespace returns what expressions read as 'namespaceObject': null for nil.
func NewNamespace(object *corev1.Namespace) *Namespace { return &Namespace{object: object} }

// value returns the CEL value of the namespace in the given scope. As in Kubernetes,
// validations and their messages read only the fields that are declared to the compiler.
func (n *Namespace) value(scope Scope) ref.Val {
	switch scope {
	case InValidations, InMessages:
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
