// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"cmp"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// Body is the compiled part of a mutating policy that other kinds do not have. Immutable.
type Body struct {
	mutations []mutation
}

// mutation is a compiled mutation.
type mutation struct {
	// patch computes the mutated object. It is not called if invalid is set.
	patch patcher
	// invalid is set if the mutation fails for every object, because its expression does not
	// compile or its patch type is unknown.
	invalid error
	// condition is absent unless the mutation has one.
	condition expression.Compiled
	// message replaces the text of failures. It is empty unless the mutation has a message.
	message string
	// reason is empty unless the mutation has a reason.
	reason metav1.StatusReason
	// reinvocable is set if the reinvocation policy of the mutation is IfNeeded.
	reinvocable bool
}

// policy returns the policy of the engine for an API object. It keeps a reference to the object,
// and compiles the expressions later.
func (e *Engine) policy(p *v1.MutatingAdmissionPolicy) *policy.Policy[Body] {
	p = policyspec.Effective(p, func(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicySpec { return &p.Spec }, e.Features)
	spec := &p.Spec
	return policy.New(e.Compiler, p, policyspec.Mutating(spec), func(c *policy.Compilation) Body {
		c.ReportAll(policyspec.DisabledExpressions(spec, e.Features))
		b := Body{mutations: make([]mutation, len(spec.Mutations))}
		for e, compiled := range c.Expressions() {
			m := &b.mutations[e.Index]
			switch e.Role {
			case policyspec.MutationCondition:
				m.condition = compiled
			case policyspec.Patch:
				m.patch = newPatcher(e.PatchType, compiled.Program)
				if compiled.Err != nil {
					m.invalid = compiled.Err
				}
			}
		}
		for i := range spec.Mutations {
			b.mutations[i].complete(c, spec, i)
		}
		return b
	})
}

// complete sets the remaining fields of a mutation, after its expressions were compiled.
func (m *mutation) complete(c *policy.Compilation, spec *v1.MutatingAdmissionPolicySpec, index int) {
	source := &spec.Mutations[index]
	if m.patch == nil {
		m.invalid = fmt.Errorf("mutation has no expression for patchType %q, or feature gate %s is off", source.PatchType, policyspec.InlineExpressions)
		c.Report(field.NewPath("spec", "mutations").Index(index), m.invalid)
	}
	m.message, m.reason = *cmp.Or(source.Message, new(string)), *cmp.Or(source.Reason, new(metav1.StatusReason))
	m.reinvocable = *cmp.Or(source.ReinvocationPolicy, &spec.ReinvocationPolicy) == v1.IfNeededReinvocationPolicy
}

func (e *Engine) binding(b *v1.MutatingAdmissionPolicyBinding) policy.BindingSpec {
	b = policyspec.Effective(b, func(b *v1.MutatingAdmissionPolicyBinding) *v1.MutatingAdmissionPolicyBindingSpec { return &b.Spec }, e.Features)
	return policy.BindingSpec{
		PolicyName:     b.Spec.PolicyName,
		ParamRef:       b.Spec.ParamRef,
		MatchResources: b.Spec.MatchResources,
		Fallback:       policyspec.IsFallback(b.Spec.BindingType),
	}
}
