// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"errors"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/expression"
	"celador.io/admission/matching"
)

// policy is a compiled ValidatingAdmissionPolicy. Immutable. Expressions that do not
// compile stay in it with their errors, which requests then run into.
type policy struct {
	name          string
	failurePolicy v1.FailurePolicyType
	criteria      *matching.Criteria
	// invalid is why no request can be decided.
	invalid error

	variables   []expression.Variable
	conditions  []compiled
	validations []validation
	// computesMessages is set when any validation has a message expression.
	computesMessages bool
	annotations      []annotation
}

// compiled is a program or the reason why there is none. With neither, the
// expression is absent.
type compiled struct {
	program *expression.Program
	err     *apiservercel.Error
}

type validation struct {
	compiled
	*v1.Validation
	computedMessage compiled
}

type annotation struct {
	compiled
	key string
}

var errNoMatchConstraints = errors.New("policy contained no match constraints, a required field")

// compilePolicy refers to p, which must not change any more.
func compilePolicy(compiler *expression.Compiler, p *v1.ValidatingAdmissionPolicy) *policy {
	spec := &p.Spec
	result := &policy{name: p.Name, failurePolicy: v1.Fail}
	if spec.FailurePolicy != nil {
		result.failurePolicy = *spec.FailurePolicy
	}
	switch {
	case spec.MatchConstraints == nil:
		result.criteria, result.invalid = matching.Compile(&v1.MatchResources{}), errNoMatchConstraints
		return result
	case spec.ParamKind != nil:
		result.invalid = errors.New("spec.paramKind: parameters are not supported yet; remove paramKind from the policy")
	}
	result.criteria = matching.Compile(spec.MatchConstraints)

	in := expression.Declarations{Params: spec.ParamKind != nil, Authorizer: true}
	withoutAuthorizer := expression.Declarations{Params: in.Params}
	compile := compiler.Compile
	if len(spec.Variables) > 0 {
		composition := compiler.Compose()
		for _, v := range spec.Variables {
			program, err := composition.Declare(v.Name, v.Expression, in, environment.StoredExpressions)
			result.variables = append(result.variables, expression.Variable{Name: v.Name, Program: program, Err: err})
		}
		compile = composition.Compile
	}
	stored := func(source string, in expression.Declarations, returns ...*cel.Type) compiled {
		program, err := compile(source, in, environment.StoredExpressions, returns...)
		return compiled{program: program, err: err}
	}

	for _, condition := range spec.MatchConditions {
		result.conditions = append(result.conditions, stored(condition.Expression, in, cel.BoolType))
	}
	for i := range spec.Validations {
		v := &spec.Validations[i]
		compiled := validation{compiled: stored(v.Expression, in, cel.BoolType), Validation: v}
		if v.MessageExpression != "" {
			compiled.computedMessage = stored(v.MessageExpression, withoutAuthorizer, cel.StringType)
			result.computesMessages = true
		}
		result.validations = append(result.validations, compiled)
	}
	for _, a := range spec.AuditAnnotations {
		result.annotations = append(result.annotations,
			annotation{stored(a.ValueExpression, in, cel.StringType, cel.NullType), a.Key})
	}
	return result
}
