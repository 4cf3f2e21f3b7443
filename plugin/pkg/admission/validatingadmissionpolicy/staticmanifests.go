// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/validating"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/plugin/pkg/admission/manifest"
)

type (
	policy        = v1.ValidatingAdmissionPolicy
	policyList    = v1.ValidatingAdmissionPolicyList
	binding       = v1.ValidatingAdmissionPolicyBinding
	bindingList   = v1.ValidatingAdmissionPolicyBindingList
	staticLoader  = manifest.Loader[*policy, *binding]
	staticObjects = manifest.Set[*policy, *binding]
)

// newReader returns a function that makes a snapshot of what files hold.
func newReader(features validating.Features) func([]upstream.FileDoc) (*validating.Snapshot, error) {
	loader := newStaticLoader(features)
	return func(documents []upstream.FileDoc) (*validating.Snapshot, error) {
		objects, err := loader.Load(documents)
		if err == nil {
			err = checkSingletons(objects)
		}
		if err != nil {
			return nil, err
		}
		return validating.NewSnapshot(expression.Default(), features, objects.Policies, objects.Bindings), nil
	}
}

// newStaticLoader returns a loader of policies and bindings that use no other features.
func newStaticLoader(features validating.Features) *staticLoader {
	return &staticLoader{
		Policies: manifest.Kind[*policy]{
			Name:  "ValidatingAdmissionPolicy",
			Items: manifest.Items(func(list *policyList) []policy { return list.Items }),
			Validate: func(p *policy) field.ErrorList {
				errs := validation.ValidateValidatingAdmissionPolicy(&admissionregistration.ValidatingAdmissionPolicy{ObjectMeta: p.ObjectMeta, Spec: p.Spec})
				errs = append(errs, disabledInPolicy(features, &p.Spec)...)
				if len(errs) > 0 || !features.TypeEnforcement {
					return errs
				}
				return builtintypes.Validate(p)
			},
			HasParams: func(p *policy) bool { return p.Spec.ParamKind != nil },
		},
		Bindings: manifest.Kind[*binding]{
			Name:  "ValidatingAdmissionPolicyBinding",
			Items: manifest.Items(func(list *bindingList) []binding { return list.Items }),
			Validate: func(b *binding) field.ErrorList {
				// As if required fields had been missing before: then the errors are those
				// that Kubernetes has for files.
				errs := validation.ValidateValidatingAdmissionPolicyBindingUpdate(
					&admissionregistration.ValidatingAdmissionPolicyBinding{ObjectMeta: b.ObjectMeta, Spec: b.Spec},
					&admissionregistration.ValidatingAdmissionPolicyBinding{})
				return append(errs, disabledInBinding(features, &b.Spec)...)
			},
			HasParams: func(b *binding) bool { return b.Spec.ParamRef != nil },
		},
		PolicyName: func(b *binding) string { return b.Spec.PolicyName },
	}
}
