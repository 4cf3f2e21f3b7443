// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/expression"
	"celador.io/admission/policy"
)

// body is what is particular to a validating policy. Immutable.
type body struct {
	validations []validation
	annotations []annotation
}

type validation struct {
	expression.Compiled
	*v1.Validation
	computedMessage expression.Compiled
	// failurePolicy is for errors of the expression.
	failurePolicy v1.FailurePolicyType
}

type annotation struct {
	expression.Compiled
	key string
}

// compiledPolicy is a policy as a Store keeps it. Immutable.
type compiledPolicy struct{ *policy.Policy[body] }

// Errors returns what keeps a policy from deciding as written, whatever the types of
// objects. Errors of a field begin with its path. Programs are those that stores with
// the same compiler use.
func Errors(compiler *expression.Compiler, features Features, p *v1.ValidatingAdmissionPolicy) []error {
	return compile(compiler, features, p).Errors()
}

// compile refers to p, which must not change any more.
func compile(compiler *expression.Compiler, features Features, p *v1.ValidatingAdmissionPolicy) *policy.Policy[body] {
	spec := &p.Spec
	definition := policy.Definition{
		Object:           p,
		FailurePolicy:    spec.FailurePolicy,
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		MatchConditions:  spec.MatchConditions,
		Variables:        spec.Variables,
		Singleton:        features.Singleton && spec.PolicyType != nil && *spec.PolicyType == v1.SingletonPolicy,
		Enforced:         features.TypeEnforcement && spec.TypeChecking != nil && *spec.TypeChecking == v1.EnforcedTypeChecking,
	}
	path := field.NewPath("spec")
	return policy.Compile(compiler, definition, func(scope *policy.Scope) body {
		var b body
		for i := range spec.Validations {
			v, at := &spec.Validations[i], path.Child("validations").Index(i)
			compiled := validation{
				Compiled:      scope.Compile(at.Child("expression"), v.Expression, scope.Declarations(), cel.BoolType),
				Validation:    v,
				failurePolicy: v1.Fail,
			}
			if spec.FailurePolicy != nil {
				compiled.failurePolicy = *spec.FailurePolicy
			}
			if features.ValidationFailurePolicy && v.FailurePolicy != nil {
				compiled.failurePolicy = *v.FailurePolicy
			}
			if v.MessageExpression != "" {
				compiled.computedMessage = scope.Compile(at.Child("messageExpression"), v.MessageExpression, scope.WithoutAuthorizer(), cel.StringType)
			}
			b.validations = append(b.validations, compiled)
		}
		for i, a := range spec.AuditAnnotations {
			at := path.Child("auditAnnotations").Index(i).Child("valueExpression")
			b.annotations = append(b.annotations, annotation{scope.Compile(at, a.ValueExpression, scope.Declarations(), cel.StringType, cel.NullType), a.Key})
		}
		return b
	})
}
