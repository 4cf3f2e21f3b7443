// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// missing returns the types that a policy names and the server does not serve.
//
// A rule stands for all combinations of its groups, versions and resources, most of which
// often do not exist. Something is missing only when a resource exists in none of them.
func (o *outcome) missing(policy *v1.ValidatingAdmissionPolicy) []error {
	var errs []error
	if u := o.uncheckedParams(); u != nil && u.Reason == typecheck.UnknownKind {
		errs = append(errs, fmt.Errorf("%s: no custom resource definition or API server serves kind %s of %s",
			u.Field, policy.Spec.ParamKind.Kind, policy.Spec.ParamKind.APIVersion))
	}
	if policy.Spec.MatchConstraints == nil {
		return errs
	}
	for i := range policy.Spec.MatchConstraints.ResourceRules {
		rule := &policy.Spec.MatchConstraints.ResourceRules[i].Rule
		path := field.NewPath("spec", "matchConstraints", "resourceRules").Index(i)
		for j, resource := range rule.Resources {
			if versions := groupVersions(rule); o.unknown(path.String(), resource).HasAll(versions...) {
				errs = append(errs, fmt.Errorf("%v: no custom resource definition or API server serves %s in %s",
					path.Child("resources").Index(j), resource, strings.Join(versions, ", ")))
			}
		}
	}
	return errs
}

// unknown returns in which group versions of a rule a resource was looked for in vain.
func (o *outcome) unknown(rule, resource string) sets.Set[string] {
	found := sets.New[string]()
	for _, u := range o.Unchecked {
		if u.Reason == typecheck.UnknownResource && u.Field == rule && u.Resource.Resource == resource {
			found.Insert(u.Resource.GroupVersion().String())
		}
	}
	return found
}

func (o *outcome) uncheckedParams() *typecheck.Unchecked {
	i := slices.IndexFunc(o.Unchecked, func(u typecheck.Unchecked) bool { return u.Field == "spec.paramKind" })
	if i < 0 {
		return nil
	}
	return &o.Unchecked[i]
}

func groupVersions(rule *v1.Rule) []string {
	var all []string
	for _, group := range rule.APIGroups {
		for _, version := range rule.APIVersions {
			all = append(all, schema.GroupVersion{Group: group, Version: version}.String())
		}
	}
	return all
}
