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
func (o *outcome) missing(p *policy) []error {
	var errs []error
	if u := o.uncheckedParams(); u != nil && u.Reason == typecheck.UnknownKind {
		errs = append(errs, fmt.Errorf("%s: no custom resource definition or API server serves kind %s of %s",
			u.Field, p.paramKind.Kind, p.paramKind.APIVersion))
	}
	if p.matchConstraints == nil {
		return errs
	}
	unknown := o.unknown()
	for i := range p.matchConstraints.ResourceRules {
		rule := &p.matchConstraints.ResourceRules[i].Rule
		path := field.NewPath("spec", "matchConstraints", "resourceRules").Index(i)
		all := sets.New(rule.APIGroups...).Len() * sets.New(rule.APIVersions...).Len()
		for j, resource := range rule.Resources {
			if in := unknown[ruleResource{path.String(), resource}]; in.Len() > 0 && in.Len() == all {
				errs = append(errs, fmt.Errorf("%v: no custom resource definition or API server serves %s in %s",
					path.Child("resources").Index(j), resource, strings.Join(groupVersions(rule), ", ")))
			}
		}
	}
	return errs
}

// ruleResource is a resource that a rule names.
type ruleResource struct{ rule, resource string }

// unknown returns in which group versions resources were looked for in vain.
func (o *outcome) unknown() map[ruleResource]sets.Set[schema.GroupVersion] {
	found := map[ruleResource]sets.Set[schema.GroupVersion]{}
	for _, u := range o.omitted {
		if u.Reason != typecheck.UnknownResource {
			continue
		}
		key := ruleResource{u.Field, u.Resource.Resource}
		if found[key] == nil {
			found[key] = sets.New[schema.GroupVersion]()
		}
		found[key].Insert(u.Resource.GroupVersion())
	}
	return found
}

func (o *outcome) uncheckedParams() *typecheck.Unchecked {
	i := slices.IndexFunc(o.omitted, func(u typecheck.Unchecked) bool { return u.Field == "spec.paramKind" })
	if i < 0 {
		return nil
	}
	return &o.omitted[i]
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
