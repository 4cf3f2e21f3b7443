// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/mutating"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/plugin/pkg/admission/manifest"
)

type (
	policy      = v1.MutatingAdmissionPolicy
	policyList  = v1.MutatingAdmissionPolicyList
	binding     = v1.MutatingAdmissionPolicyBinding
	bindingList = v1.MutatingAdmissionPolicyBindingList
)

// newReader returns a function that makes a snapshot of what files hold.
func newReader(enabled mutating.Features) func([]upstream.FileDoc) (*mutating.Snapshot, error) {
	loader := newLoader(enabled)
	return func(documents []upstream.FileDoc) (*mutating.Snapshot, error) {
		objects, err := loader.Load(documents)
		if err != nil {
			return nil, err
		}
		return mutating.NewSnapshot(expression.Default(), enabled, objects.Policies, objects.Bindings), nil
	}
}

func newLoader(enabled mutating.Features) *manifest.Loader[*policy, *binding] {
	return &manifest.Loader[*policy, *binding]{
		Policies: manifest.Kind[*policy]{
			Name:  "MutatingAdmissionPolicy",
			Items: manifest.Items(func(list *policyList) []policy { return list.Items }),
			Validate: func(p *policy) field.ErrorList {
				internal := &admissionregistration.MutatingAdmissionPolicy{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
				errs := append(validation.ValidateMutatingAdmissionPolicy(internal, validation.AllPatchTypes()), disabledFields(enabled, &p.Spec)...)
				if len(errs) > 0 || !enabled.TypeEnforcement {
					return errs
				}
				return builtintypes.ValidateMutating(p)
			},
			HasParams: func(p *policy) bool { return p.Spec.ParamKind != nil },
		},
		Bindings: manifest.Kind[*binding]{
			Name:  "MutatingAdmissionPolicyBinding",
			Items: manifest.Items(func(list *bindingList) []binding { return list.Items }),
			Validate: func(b *binding) field.ErrorList {
				return validation.ValidateMutatingAdmissionPolicyBinding(&admissionregistration.MutatingAdmissionPolicyBinding{ObjectMeta: b.ObjectMeta, Spec: b.Spec})
			},
			HasParams: func(b *binding) bool { return b.Spec.ParamRef != nil },
		},
		PolicyName: func(b *binding) string { return b.Spec.PolicyName },
	}
}

// disabledFields complains about fields whose feature gate is off.
func disabledFields(enabled mutating.Features, spec *v1.MutatingAdmissionPolicySpec) field.ErrorList {
	var errs field.ErrorList
	if spec.TypeChecking != nil && !enabled.TypeEnforcement {
		errs = append(errs, manifest.Disabled(field.NewPath("spec", "typeChecking"), features.AdmissionPolicyTypeEnforcement))
	}
	if enabled.InlineExpressions {
		return errs
	}
	for i := range spec.Mutations {
		m, path := &spec.Mutations[i], field.NewPath("spec", "mutations").Index(i)
		for _, f := range []struct {
			name  string
			isSet bool
		}{
			{"expression", m.Expression != nil},
			{"condition", m.Condition != nil},
			{"message", m.Message != nil},
			{"reason", m.Reason != nil},
			{"reinvocationPolicy", m.ReinvocationPolicy != nil},
			{"jsonMergePatch", m.JSONMergePatch != nil},
			{"strategicMergePatch", m.StrategicMergePatch != nil},
		} {
			if f.isSet {
				errs = append(errs, manifest.Disabled(path.Child(f.name), features.MutatingAdmissionPolicyInlineExpressions))
			}
		}
	}
	return errs
}
