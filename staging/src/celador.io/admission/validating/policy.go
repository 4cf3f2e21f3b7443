// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"errors"
	"fmt"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	// invalid is why no request can be decided, whatever the verdict is.
	invalid error
	// uid and generation are the state of the object.
	uid        types.UID
	generation int64
	// enforced is set when the verdict counts.
	enforced bool
	// verdict is nil until there is one on this or an earlier generation.
	verdict *verdict
	// singleton is set when the policy applies without a binding.
	singleton bool
	// paramKind is nil when the policy takes no params.
	paramKind *paramKind

	variables   []expression.Variable
	conditions  []condition
	validations []validation
	annotations []annotation
	// readsParams is set when any expression may read 'params'.
	readsParams bool
	// broken is set when any expression does not compile.
	broken bool
}

type paramKind struct {
	*v1.ParamKind
	schema.GroupVersionKind
}

// compiled is a program or the reason why there is none. With neither, the
// expression is absent.
type compiled struct {
	program *expression.Program
	err     *apiservercel.Error
}

type condition struct {
	compiled
	name string
}

type validation struct {
	compiled
	*v1.Validation
	computedMessage compiled
	// failurePolicy is for errors of the expression.
	failurePolicy v1.FailurePolicyType
}

type annotation struct {
	compiled
	key string
}

func (p *policy) valid() bool { return p.misconfiguration() == nil && !p.broken }

// misconfiguration returns why no request can be decided, nil if they can.
func (p *policy) misconfiguration() error {
	switch {
	case p.invalid != nil || !p.enforced:
		return p.invalid
	case p.verdict == nil:
		return errUnchecked
	default:
		return p.verdict.err
	}
}

var errNoMatchConstraints = errors.New("policy contained no match constraints, a required field")

// compilePolicy refers to p, which must not change any more.
func compilePolicy(compiler *expression.Compiler, features Features, p *v1.ValidatingAdmissionPolicy) *policy {
	spec := &p.Spec
	result := &policy{name: p.Name, uid: p.UID, generation: p.Generation, failurePolicy: v1.Fail}
	result.singleton = features.Singleton && spec.PolicyType != nil && *spec.PolicyType == v1.SingletonPolicy
	result.enforced = features.TypeEnforcement && spec.TypeChecking != nil && *spec.TypeChecking == v1.EnforcedTypeChecking
	if spec.FailurePolicy != nil {
		result.failurePolicy = *spec.FailurePolicy
	}
	if spec.MatchConstraints == nil {
		result.criteria, result.invalid = matching.Compile(&v1.MatchResources{}), errNoMatchConstraints
		return result
	}
	result.criteria = matching.Compile(spec.MatchConstraints)
	if spec.ParamKind != nil {
		version, err := schema.ParseGroupVersion(spec.ParamKind.APIVersion)
		if err != nil {
			result.invalid = fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
			return result
		}
		result.paramKind = &paramKind{spec.ParamKind, version.WithKind(spec.ParamKind.Kind)}
	}

	in := expression.Declarations{Params: spec.ParamKind != nil, Authorizer: true}
	withoutAuthorizer := expression.Declarations{Params: in.Params}
	compile := compiler.Bare().Compile
	// Any mention will do: most policies without params do not have the word at all.
	mention := func(source string) {
		result.readsParams = result.readsParams || in.Params && strings.Contains(source, expression.Params)
	}
	if len(spec.Variables) > 0 {
		composition := compiler.Compose()
		defer compiler.Release(composition)
		for _, v := range spec.Variables {
			mention(v.Expression)
			program, err := composition.Declare(v.Name, v.Expression, in, environment.StoredExpressions)
			result.broken = result.broken || err != nil
			result.variables = expression.AppendVariable(result.variables, expression.Variable{Name: v.Name, Program: program, Err: err})
		}
		compile = composition.Compile
	}
	stored := func(source string, in expression.Declarations, returns ...*cel.Type) compiled {
		mention(source)
		program, err := compile(source, in, environment.StoredExpressions, returns...)
		result.broken = result.broken || err != nil
		return compiled{program: program, err: err}
	}

	for _, c := range spec.MatchConditions {
		result.conditions = append(result.conditions, condition{stored(c.Expression, in, cel.BoolType), c.Name})
	}
	for i := range spec.Validations {
		v := &spec.Validations[i]
		compiled := validation{compiled: stored(v.Expression, in, cel.BoolType), Validation: v, failurePolicy: result.failurePolicy}
		if features.ValidationFailurePolicy && v.FailurePolicy != nil {
			compiled.failurePolicy = *v.FailurePolicy
		}
		if v.MessageExpression != "" {
			compiled.computedMessage = stored(v.MessageExpression, withoutAuthorizer, cel.StringType)
		}
		result.validations = append(result.validations, compiled)
	}
	for _, a := range spec.AuditAnnotations {
		result.annotations = append(result.annotations,
			annotation{stored(a.ValueExpression, in, cel.StringType, cel.NullType), a.Key})
	}
	return result
}
