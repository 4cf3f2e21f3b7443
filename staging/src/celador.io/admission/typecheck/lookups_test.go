// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

func lookup(name, apiVersion, kind string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.Lookups = append(s.Lookups, v1.Lookup{Name: name, APIVersion: apiVersion, Kind: kind, Index: new("item.metadata.name")})
	}
}

// Looked up objects have the type of their schema, for each function.
func TestLookups(t *testing.T) {
	undefined := func(at string) []found {
		return []found{{field: "spec.validations[0].expression", message: "<input>:1:" + at + ": undefined field 'nothing'", kind: deployment}}
	}
	for source, want := range map[string][]found{
		"lookups.pods.get('a').value().spec.hostname == 'a'":                              nil,
		"lookups.pods.get('a').value().nothing == 'a'":                                    undefined("30"),
		"lookups.pods.get('a', 'b').?nothing.hasValue()":                                  undefined("27"),
		"lookups.pods.get('a').optMap(p, p.nothing).orValue('') == ''":                    undefined("34"),
		"lookups.pods.list().all(p, p.spec.containers.all(c, c.image != ''))":             nil,
		"lookups.pods.list('a=b').all(p, p.spec.containers.all(c, c.nothing != ''))":      undefined("59"),
		"lookups.pods.indexed('a')[0].nothing == 'a'":                                     undefined("29"),
		"lookups.pods.list().map(p, p.metadata.name) == [object.metadata.name]":           nil,
		"lookups.pods.list().exists(p, p.metadata.name == object.spec.replicas)":          {{field: "spec.validations[0].expression", message: "<input>:1:47: found no matching overload for '_==_' applied to '(string, int)'", kind: deployment}},
		"lookups.widgets.get('a').value().nothing == 'a'":                                 nil, // it has no schema
		"lookups.nothing.list() == []":                                                    undefined("8"),
		"variables.pods.all(p, p.metadata.name != '') && variables.pods[0].nothing == ''": undefined("66"),
	} {
		t.Run(source, func(t *testing.T) {
			p := policy(source, lookup("pods", "v1", "Pod"), lookup("widgets", "example.com/v1", "Widget"), variables("pods", "lookups.pods.list()"))
			result := checker(t, mapperFor(deployment, pod, widget), builtIn).CheckValidating(p)
			if diff := cmp.Diff(want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
			if len(result.Unchecked) != 1 || result.Unchecked[0].Field != "spec.lookups[1]" || result.Unchecked[0].Reason != typecheck.NoSchema {
				t.Errorf("unchecked: %+v", result.Unchecked)
			}
		})
	}
	result := checker(t, mapperFor(deployment), builtIn).CheckValidating(policy("lookups.widgets.list() == []", lookup("widgets", "example.com/v1", "Widget")))
	if len(result.Unchecked) != 1 || result.Unchecked[0].Reason != typecheck.UnknownKind || result.Unchecked[0].Kind != widget {
		t.Errorf("unchecked without the kind: %+v", result.Unchecked)
	}
}

// Indexes are checked once, whatever the policy matches, for the type of the lookup's objects.
func TestIndexes(t *testing.T) {
	at := func(column, message string) []found {
		return []found{{field: "spec.lookups[0].index", message: "<input>:1:" + column + ": " + message, kind: pod}}
	}
	for index, want := range map[string][]found{
		"item.spec.hostname":                                  nil,
		"item.spec.containers.map(c, c.image)":                nil,
		"has(item.spec.hostname) ? [item.spec.hostname] : []": nil,
		"item.?spec.hostname.orValue('')":                     nil,
		"item.metadata.labels.map(l, l)":                      nil,
		"[]":                                                  nil,
		"dyn(item.spec)":                                      nil,
		"item.nothing":                                        at("5", "undefined field 'nothing'"),
		"item.spec.containers.map(c, c.names)":                at("30", "undefined field 'names'"),
		"has(item.spec.nothing) ? [item.metadata.name] : []":  at("4", "undefined field 'nothing'"),
		"item.spec":                                           at("5", "must evaluate to string or list(string) but got /v1.Pod.spec"),
		"item.spec.containers":                                at("10", "must evaluate to string or list(string) but got list(/v1.Pod.spec.containers.@idx)"),
		"item.spec.containers.map(c, c.ports.map(p, p.containerPort)).flatten()": at("69", "must evaluate to string or list(string) but got list(int)"),
		"item.metadata.labels": at("14", "must evaluate to string or list(string) but got map(string, string)"),
	} {
		t.Run(index, func(t *testing.T) {
			p := policy("lookups.pods.list() == []", rule("apps", "v1", "replicasets", "deployments"), lookup("pods", "v1", "Pod"))
			p.Spec.Lookups[0].Index = &index
			c := checker(t, mapperFor(deployment, replicaSet, pod), builtIn)
			result := c.CheckValidating(p)
			if diff := cmp.Diff(want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
			if want != nil && len(result.Findings[0].Issues) != 1 || len(result.Unchecked) > 0 {
				t.Errorf("got %+v", result)
			}
			p.Spec.MatchConstraints.ResourceRules = nil // no type is checked
			if diff := cmp.Diff(want, findings(c.CheckValidating(p)), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("without types, findings differ (-want +got):\n%s", diff)
			}
			if result = c.Within(1).CheckValidating(p); len(result.Findings) > 0 || len(result.Unchecked) != 1 || result.Unchecked[0].Field != "spec.lookups[0].index" {
				t.Errorf("without time for it: %+v", result)
			}
		})
	}
	// The type of the objects may not be known.
	p := policy("true", lookup("widgets", "example.com/v1", "Widget"))
	p.Spec.Lookups[0].Index = new("item.anything")
	if got := findings(checker(t, mapperFor(deployment, widget), builtIn).CheckValidating(p)); got != nil {
		t.Errorf("without a schema: %v", got)
	}
}

// A key that may be null fits: it finds the object whenever it is not null, as an optional field does.
func TestIndexesOfNullableFields(t *testing.T) {
	nullable := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}, Nullable: true}}
	numbers := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"integer"}, Nullable: true}}
	types := schemas{widget: {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"name": nullable, "names": *spec.ArrayProperty(&nullable), "number": numbers,
	}}}}
	for index, fits := range map[string]bool{"item.name": true, "item.names": true, "item.names.filter(n, n != null)": true, "item.number": false, "null": false} {
		p := policy("true", lookup("widgets", "example.com/v1", "Widget"))
		p.Spec.Lookups[0].Index = &index
		if got := findings(checker(t, mapperFor(deployment, widget), types).CheckValidating(p)); (len(got) == 0) != fits {
			t.Errorf("%s: got %v, want an error: %t", index, got, !fits)
		}
	}
}
