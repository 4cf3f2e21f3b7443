// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/expression"
	v1 "celador.io/api/admissionregistration/v1"
)

// compile returns which expressions of a policy no request can have evaluated. Programs are
// those of the admission plugin, if that uses the same compiler.
func compile(compiler *expression.Compiler, policy *v1.ValidatingAdmissionPolicy) []error {
	spec, path := &policy.Spec, field.NewPath("spec")
	composition := compiler.Compose()
	defer compiler.Release(composition)
	in := expression.Declarations{Params: spec.ParamKind != nil, Authorizer: true}
	var errs []error
	report := func(path *field.Path, err *apiservercel.Error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", path, err))
		}
	}
	check := func(path *field.Path, source string, in expression.Declarations, returns ...*cel.Type) {
		_, err := composition.Compile(source, in, environment.StoredExpressions, returns...)
		report(path, err)
	}

	for i, v := range spec.Variables {
		_, err := composition.Declare(v.Name, v.Expression, in, environment.StoredExpressions)
		report(path.Child("variables").Index(i).Child("expression"), err)
	}
	for i, c := range spec.MatchConditions {
		check(path.Child("matchConditions").Index(i).Child("expression"), c.Expression, in, cel.BoolType)
	}
	for i, v := range spec.Validations {
		at := path.Child("validations").Index(i)
		check(at.Child("expression"), v.Expression, in, cel.BoolType)
		if v.MessageExpression != "" {
			check(at.Child("messageExpression"), v.MessageExpression, expression.Declarations{Params: in.Params}, cel.StringType)
		}
	}
	for i, a := range spec.AuditAnnotations {
		check(path.Child("auditAnnotations").Index(i).Child("valueExpression"), a.ValueExpression, in, cel.StringType, cel.NullType)
	}
	return errs
}
