// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/expression"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// scope is what the expressions of one policy can refer to.
type scope struct {
	policy string           // metadata.name
	params bool             // the policy has parameters
	stored sets.Set[string] // expressions that the policy contains already

	plain     *expression.Compiler    // for match conditions, which never see variables
	composed  *expression.Compiler    // for all others
	variables *expression.Composition // where variables are declared; nil before compose
}

// newScope returns the scope of the expressions of the policy of that name. It contains
// the stored ones already; on create there are none.
func newScope(policy string, params *v1.ParamKind, stored sets.Set[string]) *scope {
	plain := expression.Default()
	return &scope{policy: policy, params: params != nil, stored: stored, plain: plain, composed: plain}
}

// compose lets expressions read variables.
func (s *scope) compose() {
	s.variables = s.plain.Compose()
	s.composed = s.variables.Compiler
}

// release ends the use of the scope.
func (s *scope) release() {
	if s.variables != nil {
		s.plain.Release(s.variables)
	}
}

// expressionsOf collects every expression of a policy, which may be nil.
func expressionsOf(policy *admissionregistration.ValidatingAdmissionPolicy) sets.Set[string] {
	all := sets.New[string]()
	if policy == nil {
		return all
	}
	for _, condition := range policy.Spec.MatchConditions {
		all.Insert(condition.Expression)
	}
	for _, variable := range policy.Spec.Variables {
		all.Insert(variable.Expression)
	}
	for _, validation := range policy.Spec.Validations {
		all.Insert(validation.Expression, validation.MessageExpression)
	}
	for _, annotation := range policy.Spec.AuditAnnotations {
		all.Insert(annotation.ValueExpression)
	}
	return all
}

// origin tells which CEL features an expression may use: all of them when it is
// stored already, else those that a rollback leaves available.
func (s *scope) origin(source string) environment.Type {
	if s.stored.Has(source) {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// declarations are the optional variables in scope, the authorizer among them.
func (s *scope) declarations() expression.Declarations {
	return expression.Declarations{Params: s.params, Authorizer: true}
}

// compileError turns the outcome of a compilation into an error that quotes the
// source.
func compileError(path *field.Path, source string, err *apiservercel.Error) field.ErrorList {
	switch {
	case err == nil:
		return nil
	case err.Type == apiservercel.ErrorTypeInvalid:
		return invalid(path, source, err.Detail)
	default:
		return field.ErrorList{field.InternalError(path, err)}
	}
}
