// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/typecheck"
)

func TestSuggestions(t *testing.T) {
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{"dashed-name": *spec.StringProperty(), "in": *spec.StringProperty()}))
	checker := checker(t, mapperFor(deployment, widget), described)
	for source, want := range map[string]typecheck.Issue{
		"object.spec.replcias < 5":                                                   {Line: 1, Column: 12, Message: "undefined field 'replcias': did you mean replicas?"},
		"has(object.spec.replcias)":                                                  {Line: 1, Column: 4, Message: "undefined field 'replcias': did you mean replicas?"},
		"object.spec.?replcias.orValue(1) < 5":                                       {Line: 1, Column: 12, Message: "undefined field 'replcias': did you mean replicas?"},
		"object.?spec.replcias.orValue(1) < 5":                                       {Line: 1, Column: 13, Message: "undefined field 'replcias': did you mean replicas?"},
		"true &&\n  oldObject.sepc == null":                                          {Line: 2, Column: 12, Message: "undefined field 'sepc': did you mean spec?"},
		"object.spec.template.spec.containers.all(c, c.imagee != '')":                {Line: 1, Column: 46, Message: "undefined field 'imagee': did you mean image?"},
		"object.nothingLikeIt == 1":                                                  {Line: 1, Column: 7, Message: "undefined field 'nothingLikeIt'"},
		"variables.limt == 1":                                                        {Line: 1, Column: 10, Message: "undefined field 'limt': did you mean limit?"},
		"params.dataa.size() == 1":                                                   {Line: 1, Column: 7, Message: "undefined field 'dataa': did you mean data?"},
		"object.spec.replicas == 'five'":                                             {Line: 1, Column: 22, Message: "found no matching overload for '_==_' applied to '(int, string)'"},
		"[1].exists(i, i == object.spec.replcias && object.spec.replicas == 'five')": {Line: 1, Column: 31, Message: "undefined field 'replcias': did you mean replicas?"},
	} {
		found := checker.CheckValidating(policy(source, variables("limit", "1"), params("v1", "ConfigMap"))).Findings
		if len(found) != 1 || len(found[0].Issues) == 0 {
			t.Errorf("%s: findings %v", source, found)
		} else if diff := cmp.Diff(want, found[0].Issues[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
	for source, want := range map[string]string{
		"Object{spec: Object.spec{replcias: 5}}":                          "undefined field 'replcias': did you mean replicas?",
		"Object{spec: Object.spec{template: Object.spec.template{}}}":     "",
		"Object{metadata: Object.metadata{lables: {'a': 'b'}}}":           "undefined field 'lables': did you mean labels?",
		"Object{spec: Object.spec{replicas: object.spec.replcias}}":       "undefined field 'replcias': did you mean replicas?",
		"Object{spec: Object.spec{nodeName: 'a'}, status: Object.stat{}}": "undefined field 'nodeName'",
	} {
		found := checker.CheckMutating(mutatingPolicy([]v1.Mutation{applyConfiguration(source)})).Findings
		got := ""
		for _, f := range found {
			for _, i := range f.Issues {
				if i.Message == want {
					got = want
				}
			}
		}
		if got != want || want == "" && len(found) > 0 {
			t.Errorf("%s: findings %v, want %s", source, found, want)
		}
	}
	for source, want := range map[string]string{
		"object.spec.`dashed-nam` == 'a'": "undefined field 'dashed-nam': did you mean `dashed-name`?",
		"object.spec.inn == 'a'":          "undefined field 'inn': did you mean `in`?",
	} {
		found := checker.CheckValidating(policy(source, rule("example.com", "v1", "widgets"))).Findings
		if len(found) != 1 || found[0].Issues[0].Message != want {
			t.Errorf("%s: findings %v, want %s", source, found, want)
		}
	}
}

// Messages of the status have Kubernetes' text, without suggestions.
func TestSuggestionsAreNotInWarnings(t *testing.T) {
	p := policy("object.spec.replcias < 5")
	if diff := cmp.Diff(upstreamWarnings(t, mapperFor(deployment), builtIn, p), checker(t, mapperFor(deployment), builtIn).CheckValidating(p).Warnings()); diff != "" {
		t.Error(diff)
	}
}

func TestManyIssues(t *testing.T) {
	source := "true"
	for i := range 50 {
		source += fmt.Sprintf(" && object.spec.replcias%d == 1", i)
	}
	found := checker(t, mapperFor(deployment), builtIn).CheckValidating(policy(source)).Findings
	if len(found) != 1 || len(found[0].Issues) != 10 {
		t.Errorf("found %v", found)
	}
	many := wide(100_000)
	if found := checker(t, mapperFor(widget), schemas{widget: many}).CheckValidating(policy("object.spec.p100000 == 1", rule("example.com", "v1", "widgets"))).Findings; len(found) != 1 || found[0].Issues[0].Message != "undefined field 'p100000'" {
		t.Errorf("found %v", found)
	}
}
