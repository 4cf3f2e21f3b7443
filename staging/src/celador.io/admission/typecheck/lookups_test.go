// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/typecheck"
)

func lookup(name, apiVersion, kind string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.Lookups = append(s.Lookups, v1.Lookup{Name: name, APIVersion: apiVersion, Kind: kind, Index: new("item.nothing")})
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
