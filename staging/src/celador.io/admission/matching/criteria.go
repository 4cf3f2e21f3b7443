// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matching decides whether a request meets the match resources of a policy, binding or
// webhook: resource rules, exclusions, and selectors for namespaces and objects.
package matching

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/defaults"
)

// Criteria are compiled match resources, such as the matchConstraints of a policy. Immutable, so
// safe for concurrent use.
type Criteria struct {
	*rules
	namespaces, objects selector
	// required is a label that the namespace of a request must have to match, by which
	// NamespaceIndex finds the criteria. It is nil if the namespace selector requires no label with
	// a single value.
	required *label
}

// rules holds the compiled resource rules. Criteria hold a pointer to it: the many bindings without
// resource rules have the pointer to noRules, and so take less memory.
type rules struct {
	include, exclude []rule
	exact            bool
}

// Compile compiles match resources, with the API's defaults for fields that are not set. The
// criteria refer to the rules of match, which must not be changed afterwards.
func Compile(match *v1.MatchResources) *Criteria {
	m := *match
	defaults.SetDefaults_MatchResources(&m)
	c := &Criteria{rules: noRules}
	c.namespaces, c.required = parseSelector(m.NamespaceSelector)
	c.objects, _ = parseSelector(m.ObjectSelector)
	if len(m.ResourceRules)+len(m.ExcludeResourceRules) > 0 {
		c.rules = &rules{
			include: compileRules(m.ResourceRules),
			exclude: compileRules(m.ExcludeResourceRules),
			exact:   *m.MatchPolicy == v1.Exact,
		}
	}
	return c
}

var noRules = &rules{}

// Match reports whether the request meets the criteria, and the resource and kind to which a rule
// refers. If there are no resource rules, all resources match that are not excluded.
//
// Match returns an error if a part of the criteria cannot be decided and the request meets all
// other parts. A part cannot be decided if the namespace is not found, a selector is invalid, or an
// equivalent resource has no kind.
func (c *Criteria) Match(r *Request) (Target, bool, error) {
	target, mismatch, err := c.match(r)
	return target, mismatch == "" && err == nil, err
}

// Mismatch describes for a log which part of the criteria the request does not meet. It returns the
// empty string if the request meets all parts, or if that cannot be decided.
func (c *Criteria) Mismatch(r *Request) string {
	_, mismatch, _ := c.match(r)
	return mismatch
}

func (c *Criteria) match(r *Request) (_ Target, mismatch string, _ error) {
	// Rules are first because most requests do not match them, and they need no lookup.
	_, excluded, excludeErr := matchRules(c.exclude, c.exact, r)
	if excluded {
		return Target{}, "excludeResourceRules match", nil
	}
	target, included, includeErr := r.own(false), true, error(nil)
	if len(c.include) > 0 {
		target, included, includeErr = matchRules(c.include, c.exact, r)
	}
	if !included && excludeErr == nil && includeErr == nil {
		return Target{}, "no resourceRules match", nil
	}
	inNamespace, namespaceErr := c.namespaces.selectsNamespace(r)
	if !inNamespace && namespaceErr == nil {
		return Target{}, "namespaceSelector does not match", nil
	}
	hasLabels, labelsErr := c.objects.selectsObject(r)
	if !hasLabels && labelsErr == nil {
		return Target{}, "objectSelector does not match", nil
	}
	for _, err := range []error{excludeErr, includeErr, namespaceErr, labelsErr} {
		if err != nil {
			return Target{}, "", err
		}
	}
	return target, "", nil
}

// Memo holds the criteria that a request was matched with last, and the result. Consecutive
// policies or bindings often share their criteria, which saves a sixth of the time of 100 policies.
// The zero value is empty. Not safe for concurrent use.
type Memo struct {
	criteria *Criteria
	target   Target
	matches  bool
	err      error
}

// Match returns the result of Criteria.Match. All calls must be for the same request.
func (m *Memo) Match(c *Criteria, r *Request) (Target, bool, error) {
	if m.criteria != c {
		m.criteria = c
		m.target, m.matches, m.err = c.Match(r)
	}
	return m.target, m.matches, m.err
}
