// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"cmp"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/rulepath"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// Body is the compiled part of a validating policy that other kinds do not have. Immutable.
type Body struct {
	validations []validation
	annotations []annotation
}

type validation struct {
	expression.Compiled
	*v1.Validation
	computedMessage expression.Compiled
	// failurePolicy is the policy's, unless the validation has its own.
	failurePolicy v1.FailurePolicyType
	// field is the canonical text of fieldPath. It is empty without one.
	field string
	// scope is nil if the validation is evaluated for the object as a whole.
	scope *scope
}

type annotation struct {
	expression.Compiled
	key string
}

// compiledPolicy is a policy of a Store with its compiled expressions. Immutable.
type compiledPolicy struct {
	*policy.Policy[Body]
	*policy.CompiledSpec[Body]
}

// policy returns the policy of an object. It keeps a reference to the object.
func (e *Engine) policy(p *v1.ValidatingAdmissionPolicy) *policy.Policy[Body] {
	p = policyspec.Effective(p, func(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec { return &p.Spec }, e.Features)
	spec, schemas := &p.Spec, e.Schemas
	anatomy := policyspec.Validating(spec)
	return policy.New(e.Compiler, p, anatomy, func(c *policy.Compilation) Body {
		c.ReportAll(policyspec.DisabledExpressions(spec, e.Features))
		b := Body{validations: make([]validation, len(spec.Validations)), annotations: make([]annotation, len(spec.AuditAnnotations))}
		for i := range spec.Validations {
			v := &spec.Validations[i]
			b.validations[i] = validation{Validation: v, failurePolicy: *cmp.Or(v.FailurePolicy, &anatomy.FailurePolicy), field: fieldOf(v)}
			if v.Scope != nil {
				b.validations[i].scope = newScope(v.Scope, schemas)
			}
		}
		for e, compiled := range c.Expressions() {
			switch e.Role {
			case policyspec.Validation:
				b.validations[e.Index].Compiled = compiled
			case policyspec.Message:
				b.validations[e.Index].computedMessage = compiled
			case policyspec.AuditAnnotation:
				b.annotations[e.Index] = annotation{compiled, spec.AuditAnnotations[e.Index].Key}
			}
		}
		return b
	})
}

// fieldOf returns the field that the causes of a validation name. It is empty without a fieldPath,
// and for one that a later version of the server stored and this one cannot parse.
func fieldOf(v *v1.Validation) string {
	if v.FieldPath == nil {
		return ""
	}
	path, err := rulepath.ParseFieldPath(*v.FieldPath)
	if err != nil {
		return ""
	}
	return path.String()
}

func (e *Engine) binding(b *v1.ValidatingAdmissionPolicyBinding) policy.BindingSpec {
	b = policyspec.Effective(b, func(b *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBindingSpec { return &b.Spec }, e.Features)
	return policy.BindingSpec{
		PolicyName:     b.Spec.PolicyName,
		ParamRef:       b.Spec.ParamRef,
		MatchResources: b.Spec.MatchResources,
		Actions:        b.Spec.ValidationActions,
		Fallback:       policyspec.IsFallback(b.Spec.BindingType),
	}
}
