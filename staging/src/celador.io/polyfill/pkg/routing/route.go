// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/defaults"
	"celador.io/admission/policyspec"
)

// Kind is a kind of policies, as the first segment of the URL paths of its routes.
type Kind string

// The kinds of policies.
const (
	Validating Kind = "validate"
	Mutating   Kind = "mutate"
)

// A Route identifies a set of policies that one webhook serves.
type Route struct {
	Kind Kind
	// Name is a DNS label.
	Name string
}

// Path returns the URL path at which the webhook of the route is called while it serves the
// policies with the given names, in any order. It differs for other policies.
func (r Route) Path(policies ...string) string {
	return "/" + string(r.Kind) + "/" + r.Name + "/" + hash(slices.Sorted(slices.Values(policies)))
}

// standsFor reports whether the path is one of the policies with the given names.
func standsFor(path string, policies []string) bool {
	return strings.HasSuffix(path, "/"+hash(slices.Sorted(slices.Values(policies))))
}

// ValidatingRoute returns the route of a policy. It does not change the policy.
func ValidatingRoute(p *v1.ValidatingAdmissionPolicy) Route { return validatingMember(p).route() }

// MutatingRoute returns the route of a policy. It does not change the policy.
func MutatingRoute(p *v1.MutatingAdmissionPolicy) Route { return mutatingMember(p).route() }

// member holds what the webhook of a policy depends on.
type member struct {
	name string
	key  key
	// namespaceSelector and objectSelector are those of key.
	namespaceSelector, objectSelector *metav1.LabelSelector
	// rules are normalized.
	rules []v1.NamedRuleWithOperations
	// conditions are the match conditions that API servers may evaluate in place of the policy.
	// They are empty if the policy may fail a request that does not meet them.
	conditions []v1.MatchCondition
}

// key holds everything that the policies of a route have in common. The name of the route has a
// hash of its JSON, so its fields are exported.
type key struct {
	Kind               Kind
	FailurePolicy      v1.FailurePolicyType
	MatchPolicy        v1.MatchPolicyType
	ReinvocationPolicy v1.ReinvocationPolicyType
	// NamespaceSelector and ObjectSelector are in the canonical form of labels.Selector.
	NamespaceSelector, ObjectSelector string
	// Versions and Rules determine, for matchPolicy Equivalent, the version in which API servers
	// send objects. Versions are set if it does not depend on which rule of the policy matches, and
	// Rules if it does.
	Versions []string
	Rules    []v1.NamedRuleWithOperations
}

func validatingMember(p *v1.ValidatingAdmissionPolicy) *member {
	k := key{Kind: Validating, FailurePolicy: failurePolicy(p.Spec.FailurePolicy)}
	// A webhook that is not reached fails a request if one of the policy's validations would.
	for _, v := range p.Spec.Validations {
		if v.FailurePolicy != nil && *v.FailurePolicy == v1.Fail {
			k.FailurePolicy = v1.Fail
		}
	}
	return newMember(p.Name, k, p.Spec.MatchConstraints, p.Spec.MatchConditions, p.Spec.ParamKind, p.Spec.TypeChecking)
}

func mutatingMember(p *v1.MutatingAdmissionPolicy) *member {
	k := key{Kind: Mutating, FailurePolicy: failurePolicy(p.Spec.FailurePolicy), ReinvocationPolicy: v1.NeverReinvocationPolicy}
	if p.Spec.ReinvocationPolicy == v1.IfNeededReinvocationPolicy {
		k.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
	}
	return newMember(p.Name, k, p.Spec.MatchConstraints, p.Spec.MatchConditions, p.Spec.ParamKind, p.Spec.TypeChecking)
}

func failurePolicy(p *v1.FailurePolicyType) v1.FailurePolicyType {
	if p != nil && *p == v1.Ignore {
		return v1.Ignore
	}
	return v1.Fail
}

func newMember(name string, k key, constraints *v1.MatchResources, conditions []v1.MatchCondition, params *v1.ParamKind, typeChecking *v1.TypeCheckingMode) *member {
	m := &member{name: name, key: k}
	var match v1.MatchResources
	if constraints != nil {
		match = *constraints
	}
	defaults.SetDefaults_MatchResources(&match)
	m.rules = normalize(match.ResourceRules, k.Kind)
	var namespacesValid, objectsValid bool
	m.key.NamespaceSelector, m.namespaceSelector, namespacesValid = canonical(match.NamespaceSelector)
	m.key.ObjectSelector, m.objectSelector, objectsValid = canonical(match.ObjectSelector)
	// The API server may evaluate the match conditions in place of the policy only if the policy
	// cannot fail a request before it evaluates them. Missing constraints, missing params, invalid
	// selectors and missing verdicts fail such requests.
	if constraints != nil && namespacesValid && objectsValid && params == nil && !policyspec.IsEnforced(typeChecking) {
		m.conditions = conditions
	}
	m.key.MatchPolicy = v1.Equivalent
	if *match.MatchPolicy == v1.Exact {
		m.key.MatchPolicy = v1.Exact
		return m
	}
	if shared, ok := versions(m.rules); ok {
		m.key.Versions = shared
	} else {
		m.key.Rules = m.rules
	}
	return m
}

// canonical returns the canonical form of a selector, the selector, and whether it is valid. It
// replaces an invalid selector, which webhook configurations cannot have, by one that selects
// everything: the policy then fails the requests to which the selector applies.
func canonical(s *metav1.LabelSelector) (string, *metav1.LabelSelector, bool) {
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "", &metav1.LabelSelector{}, false
	}
	return parsed.String(), s, true
}

func (m *member) route() Route { return Route{m.key.Kind, m.key.name()} }

// readable matches a list of versions that may be shown in the name of a route.
var readable = regexp.MustCompile(`^[a-z0-9-]{1,30}$`)

// name returns a name of the route that is a DNS label. Its first part is for readers.
func (k *key) name() string {
	form := "rules"
	switch versions := strings.Join(k.Versions, "-"); {
	case k.MatchPolicy == v1.Exact:
		form = "exact"
	case slices.Equal(k.Versions, []string{wildcard}):
		form = "any"
	case readable.MatchString(versions):
		form = versions
	}
	return strings.ToLower(string(k.FailurePolicy)) + "-" + form + "-" + hash(k)
}

// hash returns a hash of 80 bits, so that no two values have the same.
func hash(value any) string {
	sum := sha256.Sum256(encode(value))
	return hex.EncodeToString(sum[:10])
}
