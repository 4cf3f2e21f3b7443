// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/celador/test/equivalence/readings"
)

// difference is one between Celador and upstream that is wanted. Nothing else may differ.
type difference struct {
	name, reason string
	// explains says whether a pair of different outcomes of a request is due to it.
	explains func(c *cluster, r request, celador, upstream outcome) bool
	// in has it occur, for that request, by default "create". When it does not any more, the
	// difference is to be removed from the list.
	in scenario
	on string
}

// differences are all that are wanted.
func differences() []difference {
	return []difference{
		{
			name: "matched versions",
			reason: "What a policy makes of an object that it sees in another version than the request's stays in that version until all policies are done. Upstream tries to make it one " +
				"of the request's version at once, which fails when that has another group.",
			explains: func(c *cluster, r request, _, _ outcome) bool {
				return r.kind.Kind == "Deployment" && slices.ContainsFunc(c.Policies, func(p *v1.MutatingAdmissionPolicy) bool { return sees(p, r) != r.resource.GroupVersion() })
			},
			in: example{spec: with(applying(one), matched(matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))))}.scenario(),
		},
		{
			name:   "several versions",
			reason: "When policies see the object of a request in different versions, each sees what the others did. Upstream has them change copies in each version, and keeps the last.",
			explains: func(c *cluster, r request, celador, upstream outcome) bool {
				return c.versions(r) > 1 && celador.last().Object != upstream.last().Object
			},
			in: scenario{
				Policies: []*v1.MutatingAdmissionPolicy{
					policyOf("a.example.com", with(applying("Object{spec: Object.spec{size: 5}}"), matched(matching(v1.Equivalent, rule("example.com", "v2", "widgets"))))),
					policyOf("b.example.com", with(applying(one), matched(matching(v1.Equivalent, rule("example.com", "v1", "widgets"))))),
				},
				Bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", "a.example.com"), bindingOf("b", "b.example.com")},
			}, on: "create widget",
		},
		{
			name: "identity",
			reason: "A mutation that changes apiVersion, kind, metadata.name or metadata.namespace fails, as the object would be written where the request was not authorized to. " +
				"Upstream leaves it to the registry to notice.",
			explains: func(_ *cluster, r request, celador, upstream outcome) bool {
				// The error may be ignored.
				return strings.Contains(celador.text(), ": may not change ") || upstream.last().isOther(r)
			},
			in: example{spec: applying(`Object{metadata: Object.metadata{name: "other"}}`)}.scenario(),
		},
		{
			name: "parts of objects after match conditions",
			reason: "Mutations may take over maps, lists and structs of the object. In upstream they no longer may when a policy with match conditions has seen it before: " +
				"these have it shown to expressions in another way, which does not convert to JSON.",
			explains: func(c *cluster, _ request, celador, upstream outcome) bool {
				return upstream.failsBesides(celador, notConverted) &&
					slices.ContainsFunc(c.Policies, func(p *v1.MutatingAdmissionPolicy) bool { return p.Spec.MatchConditions != nil })
			},
			in: example{spec: with(patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: object.metadata.labels}]"), when("true"))}.scenario(),
		},
		{
			name: "parts of requests, namespaces and params",
			reason: "JSON patches and apply configurations may take over maps, lists and structs of request, namespaceObject and params. In upstream they may not: " +
				"these do not convert to JSON.",
			explains: func(c *cluster, _ request, celador, upstream outcome) bool {
				return upstream.failsBesides(celador, notConverted) && slices.ContainsFunc(c.Policies, readsTyped)
			},
			in: example{spec: patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: request.resource}]")}.scenario(),
		},
		{
			name:   goTypeNames,
			reason: "A few errors of CEL, such as for a list indexed by an object, name the Go type of a value. These types are Celador's own.",
			explains: func(_ *cluster, _ request, celador, upstream outcome) bool {
				return celador.withoutGoTypes() == upstream.withoutGoTypes()
			},
			in: example{spec: patching("[JSONPatch{op: 'add', path: {'a': 'b'}[object.metadata], value: 1}]")}.scenario(),
		},
		{
			name:   "control characters",
			reason: "Paths of a JSON patch may have control characters. Upstream writes them as Go does, which JSON does not understand.",
			explains: func(_ *cluster, _ request, _, upstream outcome) bool {
				return strings.Contains(upstream.text(), "failed to decode path")
			},
			in: example{spec: patching(`[JSONPatch{op: "add", path: "/metadata/labels/\u0007", value: "bell"}]`)}.scenario(),
		},
	}
}

const goTypeNames = "names of Go types"

func (o outcome) withoutGoTypes() string {
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return readings.GoTypes.Replace(string(text))
}

// failsBesides reports whether the outcome has failures besides those of another, all of which
// match a pattern, and all failures of the other.
func (o outcome) failsBesides(other outcome, pattern *regexp.Regexp) bool {
	failures, others := strings.Split(o.text(), "\n"), strings.Split(other.text(), "\n")
	matched := 0
	for _, failure := range failures {
		switch {
		case slices.Contains(others, failure):
		case pattern.MatchString(failure):
			matched++
		default:
			return false
		}
	}
	return matched > 0 && !slices.ContainsFunc(others, func(failure string) bool { return failure != "" && !slices.Contains(failures, failure) })
}

// readsTyped reports whether a mutation or variable of a policy may read what upstream shows as
// typed values whether or not there are match conditions.
func readsTyped(p *v1.MutatingAdmissionPolicy) bool {
	text, err := json.Marshal([]any{p.Spec.Mutations, p.Spec.Variables})
	return err == nil && typedNames.Match(text)
}

var typedNames = regexp.MustCompile(`\b(request|namespaceObject|params)\b`)

var notConverted = regexp.MustCompile(`type conversion error from|associative list .* may not have non-map elements`)

// isOther says whether the object has another name or namespace than the request.
func (r round) isOther(of request) bool {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(r.Object), &object); err != nil || object.Name == "" || of.name == "" {
		return false
	}
	return object.Name != of.name || object.Namespace != "" && object.Namespace != of.namespace
}

// versions returns in how many versions policies want to see the object of a request.
func (c *cluster) versions(r request) int {
	versions := map[schema.GroupVersion]bool{}
	for _, p := range c.Policies {
		versions[sees(p, r)] = true
	}
	return len(versions)
}

// sees returns the version in which a policy sees the object of a request that it matches.
func sees(p *v1.MutatingAdmissionPolicy, r request) schema.GroupVersion {
	first := p.Spec.MatchConstraints.ResourceRules[0]
	if slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return covers(rule.APIGroups, r.resource.Group) && covers(rule.APIVersions, r.resource.Version)
	}) {
		return r.resource.GroupVersion()
	}
	return schema.GroupVersion{Group: first.APIGroups[0], Version: first.APIVersions[0]}
}

func covers(values []string, value string) bool { return values[0] == "*" || values[0] == value }

func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			if d.on == "" {
				d.on = "create"
			}
			got := compareIn(t, d.in, map[string]request{d.on: fixed[d.on]})
			if got.unexplained != nil {
				t.Error(got)
			}
			if !slices.Contains(got.explained, d.name) {
				t.Errorf("%v show, and not any more: %s", got.explained, d.reason)
			}
		})
	}
}

// explain returns the difference that two different outcomes are due to, if any.
func (c *cluster) explain(r request, celador, upstream outcome) *difference {
	for _, d := range differences() {
		if d.explains(c, r, celador, upstream) {
			return &d
		}
	}
	return nil
}
