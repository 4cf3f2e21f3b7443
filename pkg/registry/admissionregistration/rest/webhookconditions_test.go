// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// named returns the YAML of a condition with a name, whose expression is true.
func named(name string) string { return fmt.Sprintf("{name: %q, expression: 'true'}", name) }

// expressed returns the YAML of a condition with an expression.
func expressed(expression string) string {
	return fmt.Sprintf("{name: a, expression: %q}", expression)
}

// matchConditions returns the YAML of a webhook's field with these conditions.
func matchConditions(each ...string) string {
	return "matchConditions: [" + strings.Join(each, ", ") + "]"
}

func many(n int) []string {
	var all []string
	for i := range n {
		all = append(all, named(fmt.Sprintf("condition-%d", i)))
	}
	return all
}

// ruleOfNames is the end of the error messages about invalid names.
const ruleOfNames = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
	"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

// TestNewConditions creates webhooks and compares the errors about their conditions.
func TestNewConditions(t *testing.T) {
	const (
		list       = "webhooks[0].matchConditions"
		name       = list + "[0].name: "
		expression = list + "[0].expression: "
		uncompiled = "compilation failed: ERROR: <input>:"
	)
	s := newWebhookServer(t)
	for title, tc := range map[string]struct {
		conditions []string
		want       []string
	}{
		"name with capitals": {[]string{named("Exclude_Leases.v1")}, nil},
		"name with a prefix": {[]string{named("example.com/exclude")}, nil},
		"no name":            {[]string{named("")}, []string{name + "Required value"}},
		"name with a space":  {[]string{named("a b")}, []string{name + `Invalid value: "a b": name part ` + ruleOfNames}},
		"name with a bad prefix": {[]string{named("Example_com/exclude")}, []string{name + `Invalid value: "Example_com/exclude": prefix part a lowercase RFC 1123 subdomain must consist of ` +
			"lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
			`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		"name with two slashes": {[]string{named("a/b/c")}, []string{name + `Invalid value: "a/b/c": a valid label key ` + ruleOfNames +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
		"name too long":    {[]string{named(strings.Repeat("a", 64))}, []string{name + `Invalid value: "` + strings.Repeat("a", 64) + `": name part must be no more than 63 bytes`}},
		"name twice":       {[]string{named("a"), named("b"), named("a")}, []string{list + `[2].name: Duplicate value: "a"`}},
		"name three times": {[]string{named("a"), named("a"), named("a")}, []string{list + `[1].name: Duplicate value: "a"`, list + `[2].name: Duplicate value: "a"`}},
		"64 conditions":    {many(64), nil},
		"65 conditions":    {many(65), []string{list + ": Too many: 65: must have at most 64 items"}},

		"no expression":    {[]string{expressed("")}, []string{expression + "Required value"}},
		"blank expression": {[]string{expressed(" \n\t")}, []string{expression + "Required value"}},
		"nothing":          {[]string{"{}"}, []string{expression + "Required value", name + "Required value"}},
		"syntax": {[]string{expressed("object.metadata.name ==")}, []string{expression + `Invalid value: "object.metadata.name ==": ` + uncompiled + "1:24: " +
			"Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n" +
			" | object.metadata.name ==\n | .......................^"}},
		"position in lines":                    {[]string{expressed("true &&\n  missing")}, []string{expression + `Invalid value: "true &&\n  missing": ` + uncompiled + "2:3: undeclared reference to 'missing' (in container '')\n |   missing\n | ..^"}},
		"position after space":                 {[]string{expressed("  missing")}, []string{expression + `Invalid value: "missing": ` + uncompiled + "1:1: undeclared reference to 'missing' (in container '')\n | missing\n | ^"}},
		"unknown function":                     {[]string{expressed("object.frob()")}, []string{expression + `Invalid value: "object.frob()": ` + uncompiled + "1:12: undeclared reference to 'frob' (in container '')\n | object.frob()\n | ...........^"}},
		"a string":                             {[]string{expressed("'yes'")}, []string{expression + `Invalid value: "'yes'": must evaluate to bool but got string`}},
		"of a type that only evaluation knows": {[]string{expressed("object.spec.enabled")}, []string{expression + `Invalid value: "object.spec.enabled": must evaluate to bool but got dyn`}},
		"a decision":                           {[]string{expressed("authorizer.requestResource.check('breakglass')")}, []string{expression + `Invalid value: "authorizer.requestResource.check('breakglass')": must evaluate to bool but got kubernetes.authorization.Decision`}},

		"params":                   {[]string{expressed("params.limit > 5")}, []string{expression + `Invalid value: "params.limit > 5": ` + uncompiled + "1:1: undeclared reference to 'params' (in container '')\n | params.limit > 5\n | ^"}},
		"variables":                {[]string{expressed("variables.limit > 5")}, []string{expression + `Invalid value: "variables.limit > 5": ` + uncompiled + "1:1: undeclared reference to 'variables' (in container '')\n | variables.limit > 5\n | ^"}},
		"unknown field of request": {[]string{expressed("request.verb == 'create'")}, []string{expression + `Invalid value: "request.verb == 'create'": ` + uncompiled + "1:8: undefined field 'verb'\n | request.verb == 'create'\n | .......^"}},
		"object":                   {[]string{expressed("has(object.metadata)")}, nil},
		"oldObject":                {[]string{expressed("oldObject == null || has(oldObject.metadata)")}, nil},
		"request":                  {[]string{expressed("request.operation == 'CREATE' && request.userInfo.username != ''")}, nil},
		"authorizer":               {[]string{expressed("authorizer.group('apps').resource('deployments').check('get').allowed()")}, nil},
		"requestResource":          {[]string{expressed("authorizer.requestResource.check('breakglass').allowed()")}, nil},
		"namespaceObject":          {[]string{expressed("namespaceObject.metadata.name == 'x'")}, nil},

		"several mistakes": {[]string{named(""), expressed("1"), "{name: a, expression: ''}"}, []string{
			name + "Required value",
			list + `[1].expression: Invalid value: "1": must evaluate to bool but got int`,
			list + "[2].expression: Required value",
			list + `[2].name: Duplicate value: "a"`,
		}},
	} {
		for resource := range webhookKinds {
			t.Run(title+", "+resource, func(t *testing.T) {
				sent := configuration(t, resource, "demo", webhook("a", matchConditions(tc.conditions...)))
				_, err := s.resource(resource).Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				if diff := cmp.Diff(tc.want, causes(t, err)); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestConditionsOfSeveralWebhooks shows that names must be unique, and the number of conditions
// limited, within one webhook only.
func TestConditionsOfSeveralWebhooks(t *testing.T) {
	s := newWebhookServer(t)
	for resource := range webhookKinds {
		t.Run(resource, func(t *testing.T) {
			s.create(t, resource, "fine", webhook("a", matchConditions(many(64)...))+webhook("b", matchConditions(many(64)...)))
			sent := configuration(t, resource, "wrong", webhook("a", matchConditions(named("a")))+webhook("b", matchConditions(named("a"), named("a"))))
			_, err := s.resource(resource).Create(t.Context(), sent, metav1.CreateOptions{})
			if diff := cmp.Diff([]string{`webhooks[1].matchConditions[1].name: Duplicate value: "a"`}, causes(t, err)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStoredConditions updates stored webhooks whose conditions would be invalid in a new webhook.
func TestStoredConditions(t *testing.T) {
	// Kubernetes 1.37 introduced function includes. A server of that version refuses it in new
	// expressions, because a server of 1.36, to which it may be rolled back, does not know it.
	const (
		newest  = "['a'].includes(request.name)"
		refused = `: Invalid value: "` + newest + `": compilation failed: ERROR: <input>:1:15: undeclared reference to 'includes' (in container '')` +
			"\n | " + newest + "\n | ..............^"
		broken        = "variables.gone"
		brokenRefused = `: Invalid value: "variables.gone": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')` +
			"\n | variables.gone\n | ^"
		lenient = "\n  failurePolicy: Ignore"
	)
	s := newWebhookServer(t)
	for title, tc := range map[string]struct {
		stored, sent string
		want         []string
	}{
		"new expression": {webhook("a", matchConditions(named("a"))), webhook("a", matchConditions(expressed(newest))),
			[]string{"webhooks[0].matchConditions[0].expression" + refused}},
		"stored expression, something else changes": {webhook("a", matchConditions(expressed(newest))), webhook("a", matchConditions(expressed(newest))+lenient), nil},
		"stored expression, another condition":      {webhook("a", matchConditions(expressed(newest))), webhook("a", matchConditions(expressed(newest), named("b"))), nil},
		"stored expression, renamed":                {webhook("a", matchConditions(expressed(newest))), webhook("a", matchConditions("{name: b, expression: "+strconv.Quote(newest)+"}")), nil},
		"stored expression, in another webhook": {webhook("a", matchConditions(expressed(newest))),
			webhook("a", matchConditions(named("a"))) + webhook("b", matchConditions(expressed(newest))), nil},
		"stored expression, changed": {webhook("a", matchConditions(expressed(newest))), webhook("a", matchConditions(expressed("!"+newest))),
			[]string{"webhooks[0].matchConditions[0].expression" + strings.NewReplacer(newest, "!"+newest, "1:15", "1:16", "....^", ".....^").Replace(refused)}},
		// The server compares stored expressions with their spaces, but compiles them without.
		"stored expression with space around": {webhook("a", matchConditions(expressed(" "+newest))), webhook("a", matchConditions(expressed(" "+newest), named("b"))),
			[]string{"webhooks[0].matchConditions[0].expression" + refused}},

		"broken expression, something else changes": {webhook("a", matchConditions(expressed(broken))), webhook("a", matchConditions(expressed(broken))+lenient), nil},
		"broken expression, repaired":               {webhook("a", matchConditions(expressed(broken))), webhook("a", matchConditions(expressed("true"))), nil},
		"broken expression, taken away":             {webhook("a", matchConditions(expressed(broken))), webhook("a", ""), nil},
		"broken expression, another condition": {webhook("a", matchConditions(expressed(broken))), webhook("a", matchConditions(expressed(broken), named("b"))),
			[]string{"webhooks[0].matchConditions[0].expression" + brokenRefused}},
		"broken expression, another webhook": {webhook("a", matchConditions(expressed(broken))), webhook("a", matchConditions(expressed(broken))) + webhook("b", ""),
			[]string{"webhooks[0].matchConditions[0].expression" + brokenRefused}},

		"65 conditions, something else changes": {webhook("a", matchConditions(many(65)...)), webhook("a", matchConditions(many(65)...)+lenient), nil},
		"65 conditions, one more": {webhook("a", matchConditions(many(65)...)), webhook("a", matchConditions(many(66)...)),
			[]string{"webhooks[0].matchConditions: Too many: 66: must have at most 64 items"}},
		"name twice, something else changes": {webhook("a", matchConditions(named("a"), named("a"))), webhook("a", matchConditions(named("a"), named("a"))+lenient), nil},
		"name twice, another condition": {webhook("a", matchConditions(named("a"), named("a"))), webhook("a", matchConditions(named("a"), named("a"), named("b"))),
			[]string{`webhooks[0].matchConditions[1].name: Duplicate value: "a"`}},
	} {
		for resource := range webhookKinds {
			t.Run(title+", "+resource, func(t *testing.T) {
				stored := s.put(t, resource, "stored", tc.stored)
				t.Cleanup(func() { s.remove(t, resource, "stored") })
				sent := configuration(t, resource, "stored", tc.sent)
				sent.SetResourceVersion(stored.GetResourceVersion())
				_, err := s.resource(resource).Update(t.Context(), sent, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
				if diff := cmp.Diff(tc.want, causes(t, err)); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
			})
		}
	}
}
