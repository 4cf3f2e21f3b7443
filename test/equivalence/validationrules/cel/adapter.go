// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cel lets Kubernetes' own tests of validation rules test Celador's rules. It has those
// identifiers of Kubernetes' package apiserver/schema/cel that the tests use, implemented by
// Celador's rules. hack/conformance-rules.sh compiles it with these tests.
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

// The names of variables of rules, as constants of Kubernetes' package.
const (
	ScopedVarName    = cel.ScopedVarName
	OldScopedVarName = cel.OldScopedVarName
)

// Functions of Kubernetes' package, and validator, which only its tests call.
var (
	ValidFieldPath                  = cel.ValidFieldPath
	WithFieldPathAllowArrayNotation = cel.WithFieldPathAllowArrayNotation
	_                               = validator
)

// A Validator validates values by the rules of a schema.
type Validator struct{ rules *validationrules.Rules }

// NewValidator returns a Validator for the rules of a schema, or nil if it has none. It ignores the
// limit on the cost of one call: Celador's rules always have that of the server.
func NewValidator(s *schema.Structural, isResourceRoot bool, _ uint64) *Validator {
	rules := validationrules.Take(s.DeepCopy(), isResourceRoot)
	if rules == nil {
		return nil
	}
	return &Validator{rules}
}

// validator returns the Validator of a schema as Kubernetes' function of this name does: also for a
// schema without rules of its own, since schemas in its allOf may have some. Therefore it adds an
// empty rule, for which NewValidator does not return nil.
func validator(s, _ *schema.Structural, isResourceRoot bool, _ *apiservercel.DeclType, limit uint64) *Validator {
	s = s.DeepCopy()
	s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{})
	return NewValidator(s, isResourceRoot, limit)
}

// An Option changes an evaluation of rules.
type Option func(*validationrules.Instance)

// WithRatcheting returns an Option that lets the evaluation compare the value with the old one, so
// that errors about parts that have not changed become warnings.
func WithRatcheting(correlation *common.CorrelatedObject) Option {
	return func(instance *validationrules.Instance) {
		instance.Correlation = func() *common.CorrelatedObject { return correlation }
	}
}

// Validate returns the errors of a value, and the part of the budget that the evaluation has not
// used.
func (v *Validator) Validate(ctx context.Context, path *field.Path, _ *schema.Structural, value, old any, budget int64, options ...Option) (field.ErrorList, int64) {
	instance := validationrules.Instance{Path: path, Value: value, Old: old, Budget: budget}
	for _, option := range options {
		option(&instance)
	}
	return v.rules.Evaluate(ctx, instance)
}
