// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cel is a copy of the interface that Kubernetes' own tests of validation rules use of the
// package apiserver/schema/cel, implemented by Celador's rules. hack/conformance-rules.sh compiles
// it with these tests.
package cel

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// The names of Kubernetes' variables.
const (
	ScopedVarName    = cel.ScopedVarName
	OldScopedVarName = cel.OldScopedVarName
)

// The functions of Kubernetes, and one that only Kubernetes' tests use.
var (
	ValidFieldPath                  = cel.ValidFieldPath
	WithFieldPathAllowArrayNotation = cel.WithFieldPathAllowArrayNotation
	_                               = validator
)

// A Validator validates values by Celador's rules.
type Validator struct{ rules *validationrules.Rules }

// NewValidator returns nil if the schema has no rules. The limit of a call is always that of the
// server, not the one given.
func NewValidator(s *schema.Structural, isResourceRoot bool, _ uint64) *Validator {
	rules := validationrules.Take(s.DeepCopy(), isResourceRoot)
	if rules == nil {
		return nil
	}
	return &Validator{rules}
}

// validator returns the validator of a schema. Rules in allOf may be its only ones; the schema is
// then not the root of a tree.
func validator(s, _ *schema.Structural, isResourceRoot bool, _ *apiservercel.DeclType, limit uint64) *Validator {
	s = s.DeepCopy()
	s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{})
	return NewValidator(s, isResourceRoot, limit)
}

// An Option changes the input of an evaluation.
type Option func(*validationrules.Input)

// WithRatcheting compares with old values.
func WithRatcheting(correlation *common.CorrelatedObject) Option {
	return func(in *validationrules.Input) {
		in.Correlation = func() *common.CorrelatedObject { return correlation }
	}
}

// Validate returns the errors of a value and the budget that remains.
func (v *Validator) Validate(ctx context.Context, path *field.Path, _ *schema.Structural, value, old any, budget int64, options ...Option) (field.ErrorList, int64) {
	in := validationrules.Input{Path: path, Value: value, Old: old, Budget: budget}
	for _, option := range options {
		option(&in)
	}
	return v.rules.Evaluate(ctx, in)
}
