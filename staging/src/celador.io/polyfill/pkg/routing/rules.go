// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	eventsv1 "k8s.io/api/events/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

const wildcard = "*"

// everything is the rules of a policy without resourceRules, which matches all requests.
var everything = []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
	Operations: []v1.OperationType{v1.OperationAll},
	Rule:       v1.Rule{APIGroups: []string{wildcard}, APIVersions: []string{wildcard}, Resources: []string{"*/*"}},
}}}

// normalize returns those of a policy's rules that can match a request to which policies of the
// kind apply, in their order. Each has its lists sorted, without duplicates and without items that
// a wildcard covers, so that equal rules are identical. It leaves out what a webhook configuration
// cannot have: a policy that was stored without validation must not keep the rules of all others
// out of the configuration.
func normalize(rules []v1.NamedRuleWithOperations, kind Kind) []v1.NamedRuleWithOperations {
	if len(rules) == 0 {
		rules = everything
	}
	var normal []v1.NamedRuleWithOperations
	for _, r := range rules {
		n := v1.NamedRuleWithOperations{ResourceNames: compact(r.ResourceNames), RuleWithOperations: v1.RuleWithOperations{
			Operations: operations(r.Operations, kind),
			Rule:       v1.Rule{APIGroups: reduce(r.APIGroups), APIVersions: reduce(without(r.APIVersions, "")), Resources: resources(r.Resources), Scope: new(v1.AllScopes)},
		}}
		if r.Scope != nil {
			n.Scope = r.Scope
		}
		if len(n.Operations) > 0 && len(n.APIGroups) > 0 && len(n.APIVersions) > 0 && len(n.Resources) > 0 &&
			slices.Contains([]v1.ScopeType{v1.AllScopes, v1.NamespacedScope, v1.ClusterScope}, *n.Scope) {
			normal = append(normal, n)
		}
	}
	return normal
}

// operations returns the operations to which policies of the kind apply. Mutating policies do not
// apply to deletions.
func operations(listed []v1.OperationType, kind Kind) []v1.OperationType {
	if all := slices.Contains(listed, v1.OperationAll); all && kind == Validating {
		return []v1.OperationType{v1.OperationAll}
	} else if all {
		return []v1.OperationType{v1.Connect, v1.Create, v1.Update}
	}
	return slices.DeleteFunc(compact(listed), func(o v1.OperationType) bool {
		return o == v1.Delete && kind == Mutating || !slices.Contains([]v1.OperationType{v1.Connect, v1.Create, v1.Delete, v1.Update}, o)
	})
}

// resources returns the resources without those that another one with a wildcard covers.
func resources(listed []string) []string {
	all := compact(without(listed, ""))
	if slices.Contains(all, "*/*") {
		return []string{"*/*"}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r string) bool {
		resource, subresource, isSubresource := strings.Cut(r, "/")
		covers := func(other string) bool { return other != r && slices.Contains(all, other) }
		return covers(resource+"/*") || isSubresource && covers("*/"+subresource) || !isSubresource && covers(wildcard)
	})
}

// reduce returns the sorted items, or the wildcard alone if it is one of them.
func reduce(items []string) []string {
	if slices.Contains(items, wildcard) {
		return []string{wildcard}
	}
	return compact(items)
}

func compact[T ~string](items []T) []T { return slices.Compact(slices.Sorted(slices.Values(items))) }

func without(items []string, unwanted string) []string {
	return slices.DeleteFunc(slices.Clone(items), func(item string) bool { return item == unwanted })
}

// versions returns the versions in which API servers send objects to a policy with matchPolicy
// Equivalent, if all its rules name the same ones. It returns false if the version depends on the
// rule. API servers then compare the rules of the policy in their order.
//
// Policies whose rules all name the same versions can share a route. The first rule that matches
// may then be another policy's, but the object has a version that this policy's rules name, too.
func versions(rules []v1.NamedRuleWithOperations) ([]string, bool) {
	for _, r := range rules {
		if !slices.Equal(r.APIVersions, rules[0].APIVersions) || namesEvents(r) {
			return nil, false
		}
	}
	if len(rules) == 0 {
		return nil, true
	}
	return rules[0].APIVersions, true
}

// namesEvents reports whether the rule may match events in only one of the two groups that serve
// them. The version in which API servers send an event then depends on the group in the rule. Other
// resources are served by one group only, so that the versions in the rule suffice to tell in which
// type API servers send an object.
func namesEvents(r v1.NamedRuleWithOperations) bool {
	return (slices.Contains(r.APIGroups, "") || slices.Contains(r.APIGroups, eventsv1.GroupName)) &&
		slices.ContainsFunc(r.Resources, func(pattern string) bool {
			resource, subresource, _ := strings.Cut(pattern, "/")
			return (resource == "events" || resource == wildcard) && (subresource == "" || subresource == wildcard)
		})
}

// union returns the rules of all policies of a route without duplicates: one for each list of
// groups, versions and operations, and each scope. It returns them sorted.
func union(rules []v1.NamedRuleWithOperations) []admissionregistrationv1.RuleWithOperations {
	merged := map[string]v1.NamedRuleWithOperations{}
	for _, r := range rules {
		listed := r.Resources
		r.Resources, r.ResourceNames = nil, nil
		key := string(encode(r))
		r.Resources = resources(slices.Concat(merged[key].Resources, listed))
		merged[key] = r
	}
	var sorted []v1.NamedRuleWithOperations
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		sorted = append(sorted, merged[key])
	}
	return webhookRules(sorted)
}

// webhookRules returns the rules in their order, without resourceNames, which webhooks do not have.
func webhookRules(rules []v1.NamedRuleWithOperations) []admissionregistrationv1.RuleWithOperations {
	var converted []admissionregistrationv1.RuleWithOperations
	for _, r := range rules {
		c := admissionregistrationv1.RuleWithOperations{Rule: admissionregistrationv1.Rule{
			APIGroups: r.APIGroups, APIVersions: r.APIVersions, Resources: r.Resources, Scope: new(admissionregistrationv1.ScopeType(*r.Scope)),
		}}
		for _, o := range r.Operations {
			c.Operations = append(c.Operations, admissionregistrationv1.OperationType(o))
		}
		converted = append(converted, c)
	}
	return converted
}

// encode returns JSON of a value that has no channels, functions or cycles.
func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot happen: the values are structs of strings
	}
	return encoded
}
