// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
)

// Deployments have spec.replicas and spec.template, pods have spec.nodeName.
func TestGuarded(t *testing.T) {
	several := rules(v1.Rule{APIGroups: []string{"apps", ""}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "pods"}})
	both := func(expression string, change ...func(*v1.ValidatingAdmissionPolicySpec)) *v1.ValidatingAdmissionPolicy {
		return policy(expression, append(change, several)...)
	}
	const neither, unknown = "Deployment guarded, Pod guarded", "Deployment unknown, Pod unknown"
	for name, test := range map[string]struct {
		policy *v1.ValidatingAdmissionPolicy
		want   string // findings on the last expression by kind
	}{
		"and":            {both("has(object.spec.replicas) && object.spec.replicas < 5"), "Pod guarded"},
		"and, turned":    {both("object.spec.replicas < 5 && has(object.spec.replicas)"), "Pod guarded"},
		"or not":         {both("!has(object.spec.replicas) || object.spec.replicas < 5"), "Pod guarded"},
		"condition":      {both("has(object.spec.replicas) ? object.spec.replicas < 5 : true"), "Pod guarded"},
		"not, condition": {both("!has(object.spec.replicas) ? true : object.spec.replicas < 5"), "Pod guarded"},
		"nested":         {both("has(object.spec.template) && (has(object.spec.template.spec) ? object.spec.template.spec.nodeName != '' : object.spec.template.metadata.name != '')"), "Pod guarded"},
		"one each":       {both("(!has(object.spec.replicas) || object.spec.replicas < 5) && (!has(object.spec.nodeName) || object.spec.nodeName == '')"), neither},
		"in a macro":     {both("[1, 2].all(i, !has(object.spec.replicas) || object.spec.replicas < i)"), "Pod guarded"},
		"in a variable": {
			both("variables.replicas < 5", variables("replicas", "has(object.spec.replicas) ? object.spec.replicas : 0")), "",
		},
		"has() alone":           {both("has(object.spec.replicas)"), "Pod guarded"},
		"no guard":              {both("object.spec.replicas < 5"), "Pod"},
		"guard of another":      {both("has(object.spec.replicas) && object.spec.nodeName == ''"), "Deployment, Pod guarded"},
		"the other way round":   {both("has(object.spec.replicas) || object.spec.replicas < 5"), "Pod"},
		"wrong besides":         {both("has(object.spec.replicas) && object.spec.replicas < 5 || object.spec.nosuch"), "Deployment, Pod"},
		"wrong when there":      {both("has(object.spec.replicas) && object.spec.replicas < 'five'"), "Deployment, Pod guarded"},
		"in between missing":    {both("has(object.spec.template.spec) && object.spec.template.spec.nodeName == ''"), "Pod"},
		"nobody has it":         {both("has(object.spec.replica) && object.spec.replica < 5"), unknown},
		"one type only":         {policy("has(object.spec.nodeName) && object.spec.nodeName == ''"), "Deployment unknown"},
		"nobody has one of two": {both("has(object.spec.replicas) && has(object.spec.replica) && object.spec.replicas < object.spec.replica"), "Deployment unknown, Pod guarded"},
		"another type is not known": {
			policy("has(object.spec.size) && object.spec.size < 5", rule("example.com", "v1", "widgets"), rule("apps", "v1", "deployments")), "Deployment guarded",
		},
		"parameters are not known": {
			both("has(object.spec.replica) && object.spec.replica < params.x", params("example.com/v1", "Widget")), unknown,
		},
		"parameters lack it": {both("has(params.x) && params.x == 1", params("v1", "ConfigMap")), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, pod, configMap), builtIn).CheckValidating(test.policy)
			var got []string
			certain := 0
			for _, f := range result.Findings {
				if !f.Guarded {
					certain++
				}
				if f.Field != "spec.validations[0].expression" {
					continue
				}
				kind := f.Type.Kind
				switch {
				case f.Unknown:
					kind += " unknown"
				case f.Guarded:
					kind += " guarded"
				}
				got = append([]string{kind}, got...) // pods come first
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got findings %q, want %q in %v", got, test.want, result.Findings)
			}
			if enforceable := result.Enforceable(); len(enforceable.Findings) != certain || fmt.Sprint(enforceable.Types) != fmt.Sprint(result.Types) {
				t.Errorf("got %v enforceable, want %d of %v", enforceable.Findings, certain, result.Findings)
			}
		})
	}
}

// Guarded expressions evaluate without errors for objects that lack the field.
func TestGuardedAtRunTime(t *testing.T) {
	without := map[string]any{"spec": map[string]any{}}
	for _, source := range []string{
		"!(has(object.spec.size) && object.spec.size < 5)",
		"!(object.spec.size < 5 && has(object.spec.size))",
		"!has(object.spec.size) || object.spec.size < 5",
		"object.spec.size < 5 || !has(object.spec.size)",
		"has(object.spec.size) ? object.spec.size < 5 : true",
		"[1, 2].all(i, !has(object.spec.size) || object.spec.size < i)",
		"[1, 2].exists_one(i, has(object.spec.size) && object.spec.size < i) == false",
	} {
		if err := evaluate(t, policy(source), without, nil); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}
