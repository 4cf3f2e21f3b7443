// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"celador.io/admission/cel/schemaexpression"
)

// variables holds the variables of the rules of a node. oldSelf is set when the first rule needs
// it, as a plain value and as an optional: each rule declares which one it reads.
type variables struct {
	node *node
	old  any
	// readsOld is false if no rule of the node reads oldSelf.
	readsOld bool

	plain, optional schemaexpression.Activation
}

// of returns the variables of a rule, with oldSelf in the form that the rule declares.
func (v *variables) of(rule *apiextensionsv1.ValidationRule) *schemaexpression.Activation {
	if !v.readsOld {
		return &v.plain
	}
	if v.optional.Self == nil {
		v.optional.Self, v.optional.OldSelf = v.plain.Self, types.OptionalNone
		if !isNil(v.old) {
			v.plain.OldSelf = schemaexpression.Value(v.old, v.node.values)
			v.optional.OldSelf = types.OptionalOf(v.plain.OldSelf)
		}
	}
	if optional(rule) {
		return &v.optional
	}
	return &v.plain
}

// isNil reports whether there is no old value. A missing map or list is a nil map or slice in an
// interface, which is not equal to nil.
func isNil(old any) bool {
	switch old := old.(type) {
	case nil:
		return true
	case map[string]any:
		return old == nil
	case []any:
		return old == nil
	}
	return false
}
