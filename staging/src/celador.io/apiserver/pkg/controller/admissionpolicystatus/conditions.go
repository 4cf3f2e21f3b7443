// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// maxMessage limits the message of a condition, and maxNote the note of an event, in bytes.
const (
	maxMessage = 32 << 10
	maxNote    = 1 << 10
)

// conditions returns conditions Available and TypeChecked of the policy. A condition whose status
// is the recorded one keeps the recorded transition time.
func (r *report) conditions(p *policy) []metav1.Condition {
	conditions := []metav1.Condition{r.available(p), r.typeChecked(p)}
	for i := range conditions {
		condition := &conditions[i]
		condition.ObservedGeneration, condition.LastTransitionTime = p.Generation, metav1.Now()
		if before := meta.FindStatusCondition(p.status.Conditions, condition.Type); before != nil && before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
	}
	return conditions
}

// available returns condition Available. Type errors make only an Enforced policy unavailable.
// Lookups whose objects are not known make any policy unavailable.
func (r *report) available(p *policy) metav1.Condition {
	problems := append([]error{r.compileErrors}, r.notFound(p)...)
	if p.enforced() {
		problems = append(problems, r.typeErrors)
	}
	problem, unknown := errors.Join(problems...), r.lookupErrors()
	condition := metav1.Condition{Type: v1.PolicyConditionAvailable}
	switch {
	case problem != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1.PolicyReasonMisconfigured, typecheck.Truncate(errors.Join(problem, unknown).Error(), maxMessage)
	case unknown != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1.PolicyReasonLookupsUnavailable, typecheck.Truncate(unknown.Error(), maxMessage)
	case r.unavailable():
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1.PolicyReasonTypesUnavailable, r.uncheckedFor(typecheck.Unavailable)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.PolicyReasonConfigured
	}
	return condition
}

// typeChecked returns condition TypeChecked.
func (r *report) typeChecked(p *policy) metav1.Condition {
	condition := metav1.Condition{Type: v1.PolicyConditionTypeChecked, Status: metav1.ConditionUnknown}
	notFound := errors.Join(r.notFound(p)...)
	noSchema := r.uncheckedFor(typecheck.NoSchema)
	neverChecked := r.uncheckedFor(typecheck.Wildcard, typecheck.Subresource, typecheck.TooManyTypes)
	switch {
	case len(r.warnings) > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1.PolicyReasonTypeErrors
		condition.Message = "Expressions do not fit types: " + r.fields + ". See status.typeChecking."
	case r.unavailable():
		condition.Reason, condition.Message = v1.PolicyReasonTypesUnavailable, r.uncheckedFor(typecheck.Unavailable)
	case notFound != nil:
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotFound, notFound.Error()
	case noSchema != "":
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotFound, noSchema
	case neverChecked != "":
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotChecked, neverChecked
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.PolicyReasonNoTypeErrors
	}
	condition.Message = typecheck.Truncate(condition.Message, maxMessage)
	return condition
}

// uncheckedFor returns one line for each field of the policy that was not checked for one of the
// reasons, or "" if there is none.
func (r *report) uncheckedFor(reasons ...typecheck.Reason) string {
	var lines []string
	for _, u := range r.unchecked {
		if slices.Contains(reasons, u.Reason) {
			lines = append(lines, fmt.Sprintf("%s: %v", u.Field, u.Err))
		}
	}
	return typecheck.Truncate(strings.Join(slices.Compact(lines), "\n"), maxMessage)
}

// notFound returns an error for the paramKind, each kind of a lookup and each resource of a rule
// that the server does not serve.
//
// A rule stands for all combinations of its groups, versions and resources, and most of the
// combinations often do not exist. A resource counts as not found only if it exists in none of
// the group versions.
func (r *report) notFound(p *policy) []error {
	var errs []error
	unserved := map[ruleResource]sets.Set[schema.GroupVersion]{}
	for _, u := range r.unchecked {
		switch u.Reason {
		case typecheck.UnknownKind:
			kind, version := u.Kind.Kind, u.Kind.GroupVersion().String()
			if p.paramKind != nil && u.Kind.Empty() { // its apiVersion cannot be parsed
				kind, version = p.paramKind.Kind, p.paramKind.APIVersion
			}
			errs = append(errs, fmt.Errorf("%s: no custom resource definition or API server serves kind %s of %s", u.Field, kind, version))
		case typecheck.UnknownResource:
			key := ruleResource{u.Field, u.Resource.Resource}
			if unserved[key] == nil {
				unserved[key] = sets.New[schema.GroupVersion]()
			}
			unserved[key].Insert(u.Resource.GroupVersion())
		}
	}
	if p.matchConstraints == nil {
		return errs
	}
	for i := range p.matchConstraints.ResourceRules {
		rule := &p.matchConstraints.ResourceRules[i].Rule
		path := field.NewPath("spec", "matchConstraints", "resourceRules").Index(i)
		all := sets.New(rule.APIGroups...).Len() * sets.New(rule.APIVersions...).Len()
		for j, resource := range rule.Resources {
			if in := unserved[ruleResource{path.String(), resource}]; in.Len() > 0 && in.Len() == all {
				errs = append(errs, fmt.Errorf("%v: no custom resource definition or API server serves %s in %s",
					path.Child("resources").Index(j), resource, strings.Join(groupVersions(rule), ", ")))
			}
		}
	}
	return errs
}

// ruleResource is a resource that a rule of a policy names. rule is the field path of the rule.
type ruleResource struct{ rule, resource string }

func groupVersions(rule *v1.Rule) []string {
	var all []string
	for _, group := range rule.APIGroups {
		for _, version := range rule.APIVersions {
			all = append(all, schema.GroupVersion{Group: group, Version: version}.String())
		}
	}
	return all
}
