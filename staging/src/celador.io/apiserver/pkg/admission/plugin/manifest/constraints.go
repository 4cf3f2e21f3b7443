// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/manifest"

	v1 "celador.io/api/admissionregistration/v1"
)

func (l *Loader[Policy, Binding]) checkPolicy(policy Policy) error {
	if l.Policies.HasParams(policy) {
		return fmt.Errorf("%s %q: spec.paramKind is not supported for static manifests", l.Policies.Name, policy.GetName())
	}
	return nil
}

// ForbidLookups returns an error if a policy of a file has lookups. Clients write the objects that
// are looked up, and policies in files must not depend on clients.
func ForbidLookups(lookups []v1.Lookup) field.ErrorList {
	if len(lookups) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "lookups"), "lookups are not supported for static manifests")}
}

func (l *Loader[Policy, Binding]) checkBinding(binding Binding) error {
	if policy := l.PolicyName(binding); !strings.HasSuffix(policy, manifest.StaticConfigSuffix) {
		return fmt.Errorf("binding %q: spec.policyName %q must end with %q", binding.GetName(), policy, manifest.StaticConfigSuffix)
	}
	if l.Bindings.HasParams(binding) {
		return fmt.Errorf("binding %q: spec.paramRef is not supported for static manifests", binding.GetName())
	}
	return nil
}

// checkReferences returns an error for a binding without a policy, or whose policy is a Singleton.
// It needs the objects of all files, because the file of a binding may come before that of its
// policy.
func (l *Loader[Policy, Binding]) checkReferences(policies []Policy, bindings []Binding) error {
	singletons := map[string]bool{} // of all policies
	for _, policy := range policies {
		singletons[policy.GetName()] = l.IsSingleton(policy)
	}
	for _, binding := range bindings {
		policy := l.PolicyName(binding)
		singleton, exists := singletons[policy]
		switch {
		case !exists:
			return fmt.Errorf("binding %q references policy %q which does not exist in the manifest directory", binding.GetName(), policy)
		case singleton:
			return fmt.Errorf("binding %q: spec.policyName %q is a Singleton, which takes effect without a binding", binding.GetName(), policy)
		}
	}
	return nil
}
