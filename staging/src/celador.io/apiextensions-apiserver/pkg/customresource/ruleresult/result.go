// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleresult checks the types of the results of conversion rules and default rules, and converts results to
// unstructured values.
package ruleresult

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Types resolves the types of the objects that a rule may construct: Object, whose fields are those of a schema, and
// Object.spec, Object.spec.endpoints and so on for the objects, list items and map values in it. It implements
// common.TypeResolver, is immutable and safe for concurrent use.
type Types struct{}

// NewTypes returns the types of a version's schema.
func NewTypes(root *structuralschema.Structural) *Types { return &Types{} }

// Resolve implements common.TypeResolver.
func (t *Types) Resolve(name string) (common.ResolvedType, bool) { return nil, false }

// Assignable returns an error, which says what to do, if a rule whose result has the type output cannot set a field with
// the schema to. self is the type of the rule's self, in which object types of the result are looked up. Values of
// dynamic type are assignable: Assign checks them.
func (t *Types) Assignable(output *cel.Type, self *apiservercel.DeclType, to *structuralschema.Structural) error {
	return errors.New("not implemented")
}

// Assign returns the unstructured value that a field with the schema to has after a rule has returned result, and false
// if the field is left unset, because the result is null or optional.none(). existing is the value before, or nil. A
// constructed object is merged into existing field by field, also in place; all other values replace it. Assign returns
// an error if the value does not have the type of the schema. The value shares nothing with the source of the rule.
func Assign(existing any, result ref.Val, to *structuralschema.Structural) (value any, set bool, err error) {
	return nil, false, errors.New("not implemented")
}
