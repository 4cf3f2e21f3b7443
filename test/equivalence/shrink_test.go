// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/equivalence/reduce"
)

// compareIn starts a cluster and compares the outcomes of requests.
func compareIn(t *testing.T, s scenario, requests map[string]request) (result comparison) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = start(t, s).compare(t, requests, s.ordered())
	})
	return result
}

// shrink leaves out all that is not needed for plugins to differ.
func shrink(t *testing.T, s scenario, requests map[string]request) (scenario, map[string]request) {
	t.Helper()
	return reduce.Scenario(s, requests, reductions, func(s scenario, requests map[string]request) bool {
		return compareIn(t, s, requests).unexplained != nil
	})
}

// reductions returns copies of a scenario with one thing less.
func reductions(s scenario) iter.Seq[scenario] {
	return func(yield func(scenario) bool) {
		ok := true
		next := func(change func(*scenario)) {
			if ok {
				c := s.clone()
				change(&c)
				ok = yield(c)
			}
		}
		for i := range s.Policies {
			next(func(c *scenario) { c.Policies = slices.Delete(c.Policies, i, i+1) })
		}
		for i := range s.Bindings {
			next(func(c *scenario) { c.Bindings = slices.Delete(c.Bindings, i, i+1) })
		}
		for i := range s.Params {
			next(func(c *scenario) { c.Params = slices.Delete(c.Params, i, i+1) })
		}
		for i, p := range s.Policies {
			spec := func(change func(*v1.ValidatingAdmissionPolicySpec)) {
				next(func(c *scenario) { change(&c.Policies[i].Spec) })
			}
			for j := range p.Spec.MatchConditions {
				spec(func(s *v1.ValidatingAdmissionPolicySpec) {
					s.MatchConditions = slices.Delete(s.MatchConditions, j, j+1)
				})
			}
			for j := range p.Spec.Variables {
				spec(func(s *v1.ValidatingAdmissionPolicySpec) { s.Variables = slices.Delete(s.Variables, j, j+1) })
			}
			for j := range p.Spec.Validations {
				spec(func(s *v1.ValidatingAdmissionPolicySpec) { s.Validations = slices.Delete(s.Validations, j, j+1) })
			}
			for j := range p.Spec.AuditAnnotations {
				spec(func(s *v1.ValidatingAdmissionPolicySpec) {
					s.AuditAnnotations = slices.Delete(s.AuditAnnotations, j, j+1)
				})
			}
			if len(p.Spec.MatchConstraints.ExcludeResourceRules) > 0 {
				spec(func(s *v1.ValidatingAdmissionPolicySpec) { s.MatchConstraints = everything() })
			}
		}
		for i, b := range s.Bindings {
			if b.Spec.MatchResources != nil {
				next(func(c *scenario) { c.Bindings[i].Spec.MatchResources = nil })
			}
		}
	}
}

func (s scenario) clone() scenario {
	var c scenario
	for _, p := range s.Policies {
		c.Policies = append(c.Policies, p.DeepCopy())
	}
	for _, b := range s.Bindings {
		c.Bindings = append(c.Bindings, b.DeepCopy())
	}
	c.Params = slices.Clone(s.Params)
	return c
}

// describe returns what is needed to look into a difference.
func describe(s scenario, requests map[string]request) string {
	var text strings.Builder
	write := func(value any) {
		manifest, err := yaml.Marshal(value)
		if err != nil {
			fmt.Fprintf(&text, "%+v (%v)\n", value, err)
		}
		text.Write(manifest)
	}
	write(s)
	for name, r := range requests {
		fmt.Fprintf(&text, "--- %s: %s %s %q in %q by %v, dry run %t, abandoned %t\n", name, r.operation, r.resource, r.subresource, r.namespace, r.user, r.dryRun, r.abandoned)
		for what, object := range map[string]runtime.Object{"object": r.object, "old": r.old} {
			if object == nil {
				continue
			}
			// Internal types have no JSON of their own.
			if versioned, err := admission.ConvertToGVK(object, r.kind, interfaces); err == nil {
				object = versioned
			}
			write(map[string]any{what: object})
		}
	}
	return text.String()
}
