// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// variables are examples of variables, which are evaluated lazily and once for each series of
// expressions.
func variables() map[string]example {
	spec := func(variables []v1.Variable, expressions ...string) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{Variables: variables, Validations: validating(expressions...)}
	}
	chain := let("spec", "object.spec", "few", "variables.spec.replicas <= 5")
	const badRead = "denied: expression 'variables.bad' resulted in error: composited variable \"bad\" fails to evaluate: no such key: missing"
	types := let(
		"list", "['a', 'b']", "map", "{'a': [1]}", "size", "quantity('1Gi')", "maybe", "object.?spec.?replicas",
		"now", "timestamp('2026-01-02T03:04:05Z')", "user", "request.userInfo", "nothing", "null", "bytes", "b'ab'", "ratio", "0.5", "count", "3u", "span", "duration('90s')",
	)
	asking := spec(let("may", "authorizer.requestResource.check('read').allowed()"), "!variables.may")
	asking.Validations[0].MessageExpression = "string(variables.may)"
	asking.AuditAnnotations = note("string(variables.may)")
	everywhere := spec(let("text", "'a' + 'b'"), "variables.text == 'ab'", "variables.text == 'c'")
	everywhere.Validations[1].MessageExpression = "variables.text"
	everywhere.AuditAnnotations = note("variables.text")
	everywhere.MatchConditions = when("variables.text == 'ab'")
	fails := func(expression, detail string) []string {
		return says("denied: expression '" + expression + "' resulted in error: " + detail)
	}
	return map[string]example{
		"chain":                     {spec: spec(chain, "variables.few"), want: says("denied: failed expression: variables.few")},
		"chain, satisfied":          {spec: spec(chain, "variables.few"), on: "create few"},
		"fails":                     {spec: spec(let("bad", failing, "few", few), "variables.bad"), want: says(badRead)},
		"fails, ignored":            {spec: ignoring(spec(let("bad", failing), "variables.bad"))},
		"fails unread":              {spec: spec(let("bad", failing), "true")},
		"fails where not needed":    {spec: spec(let("bad", failing), "true || variables.bad")},
		"fails in two expressions":  {spec: spec(let("bad", failing), few, "variables.bad"), want: says(fewDenied)},
		"fails through another":     {spec: spec(let("bad", failing, "worse", "!variables.bad"), "variables.worse"), want: fails("variables.worse", `composited variable "worse" fails to evaluate: composited variable "bad" fails to evaluate: no such key: missing`)},
		"does not compile":          {spec: spec(let("bad", "1 +"), "variables.bad == 1"), want: fails("variables.bad == 1", "composited variable \"bad\" fails to compile: compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^")},
		"does not compile, unread":  {spec: spec(let("bad", "1 +"), few), on: "create few"},
		"of a known type":           {spec: spec(let("name", "'a'"), "variables.name + 1 == 2"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:16: found no matching overload for '_+_' applied to '(string, int)'\n | variables.name + 1 == 2\n | ...............^")},
		"of a dynamic type":         {spec: spec(let("name", "object.metadata.name"), "variables.name + 1 == 2"), want: fails("variables.name + 1 == 2", "no such overload")},
		"not there":                 {spec: spec(let("a", "1"), "variables.b == 1"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:10: undefined field 'b'\n | variables.b == 1\n | .........^")},
		"later ones are not there":  {spec: spec(let("a", "variables.b", "b", "1"), "variables.a == 1"), want: fails("variables.a == 1", "composited variable \"a\" fails to compile: compilation failed: ERROR: <input>:1:10: undefined field 'b'\n | variables.b\n | .........^")},
		"itself is not there":       {spec: spec(let("a", "variables.a"), "variables.a == 1"), want: fails("variables.a == 1", "composited variable \"a\" fails to compile: compilation failed: ERROR: <input>:1:10: undefined field 'a'\n | variables.a\n | .........^")},
		"of many types":             {spec: spec(types, "variables.list.exists(s, s == 'a') && variables.map['a'][0] == 1 && variables.size.isGreaterThan(quantity('1'))", "variables.now.getFullYear() == 2026 && variables.nothing == null && variables.user.username == 'jane'", "variables.bytes == b'ab' && variables.ratio < 1.0 && variables.count == 3u && variables.span == duration('1m30s')")},
		"of optional type":          {spec: spec(types, "variables.maybe.orValue(0) == 9")},
		"asks authorizer":           {spec: asking, want: []string{"denied: failed expression: !variables.may"}},
		"in all expressions":        {spec: everywhere, want: says("denied: ab", "noted key0=ab")},
		"reads namespace":           {spec: spec(let("team", "namespaceObject.metadata.labels.name"), "variables.team == 'blue'")},
		"list of objects":           {spec: spec(let("images", "object.spec.template.spec.containers.map(c, c.image)"), "variables.images.all(i, !i.endsWith(':latest'))"), want: says("denied: failed expression: variables.images.all(i, !i.endsWith(':latest'))")},
		"variable named as a field": {spec: spec(let("object", "'o'", "request", "'r'"), "variables.object == 'o' && variables.request == 'r' && object.metadata.name == 'web'")},
	}
}
