// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"testing"
)

// mutations returns a patch that sets the mutations of a policy.
func mutations(list string) string { return "spec: {mutations: [" + list + "]}" }

// mutate returns a mutation with a patch type and an expression in the given field.
func mutate(patchType, field, expression string) string {
	return fmt.Sprintf("{patchType: %s, %s: {expression: %q}}", patchType, field, expression)
}

func jsonPatch(expression string) string { return mutate("JSONPatch", "jsonPatch", expression) }

func apply(expression string) string {
	return mutate("ApplyConfiguration", "applyConfiguration", expression)
}

// undeclared returns the error of an expression that begins with an undeclared name.
func undeclared(path, source, name string) string {
	return fmt.Sprintf("%s: Invalid value: %q: compilation failed: ERROR: <input>:1:1: undeclared reference to '%s' (in container '')\n | %s\n | ^", path, source, name, source)
}

func TestMutations(t *testing.T) {
	const (
		first  = "spec.mutations[0]"
		patch  = first + ".jsonPatch.expression"
		config = first + ".applyConfiguration.expression"
	)
	runMutatingPolicies(t, []testCase{
		{name: "both types", patch: mutations(jsonPatch("[]") + ", " + apply("Object{}")), want: []string{
			patch + `: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)`,
		}},
		{
			name: "patch operations",
			patch: mutations(jsonPatch(`[JSONPatch{op: "test", path: "/spec", from: "/a", value: Object.spec{replicas: 1}}, ` +
				`JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: [1, 2]}]`)),
		},
		{name: "patch by a condition", patch: mutations(jsonPatch(`object.spec.replicas > 5 ? [JSONPatch{op: "remove", path: "/spec/replicas"}] : []`))},
		{
			name: "optional fields",
			patch: mutations(apply(`Object{?spec: object.?spec.hasValue() ? optional.of(Object.spec{?replicas: optional.none()}) : optional.none(), ` +
				`metadata: Object.metadata{labels: {"a": string(object.spec.replicas)}}}`)),
		},
		{
			name:  "all variables",
			patch: `{"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "variables": [{"name": "a", "expression": "1"}], "mutations": [` + `{"patchType": "JSONPatch", "jsonPatch": {"expression": "object == oldObject && params.x == variables.a && request.operation == 'CREATE' && has(namespaceObject.metadata) && authorizer.requestResource.check('get').allowed() ? [JSONPatch{}] : []"}}]}}`,
		},
		{name: "no type", patch: mutations("{}, {jsonPatch: {expression: '1'}}"), want: []string{first + `.patchType: Required value: supported values: "ApplyConfiguration", "JSONPatch"`, `spec.mutations[1].patchType: Required value: supported values: "ApplyConfiguration", "JSONPatch"`}},
		{
			name:  "unknown types",
			patch: mutations(mutate("Merge", "jsonPatch", "1") + ", {patchType: JSONMergePatch}, {patchType: jsonpatch}"),
			want: []string{
				first + `.patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`,
				`spec.mutations[1].patchType: Unsupported value: "JSONMergePatch": supported values: "ApplyConfiguration", "JSONPatch"`,
				`spec.mutations[2].patchType: Unsupported value: "jsonpatch": supported values: "ApplyConfiguration", "JSONPatch"`,
			},
		},
		{
			name:  "no body",
			patch: mutations("{patchType: JSONPatch}, {patchType: ApplyConfiguration}"),
			want: []string{
				first + ".jsonPatch: Required value: must be specified when patchType is JSONPatch",
				"spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
			},
		},
		{
			name:  "other body",
			patch: mutations("{patchType: JSONPatch, applyConfiguration: {expression: '1'}}, {patchType: ApplyConfiguration, jsonPatch: {expression: '1'}}"),
			want: []string{
				first + ".jsonPatch: Required value: must be specified when patchType is JSONPatch",
				first + `.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
				"spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
				`spec.mutations[1].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`,
			},
		},
		{
			name:  "both bodies",
			patch: mutations("{patchType: JSONPatch, jsonPatch: {}, applyConfiguration: {}}, {patchType: ApplyConfiguration, jsonPatch: {}, applyConfiguration: {}}"),
			want: []string{
				patch + ": Required value",
				first + `.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
				"spec.mutations[1].applyConfiguration.expression: Required value",
				`spec.mutations[1].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`,
			},
		},
		{
			name:  "blank expressions",
			patch: mutations(jsonPatch(" ") + ", " + apply("\t")),
			want:  []string{patch + ": Required value", "spec.mutations[1].applyConfiguration.expression: Required value"},
		},
		{
			name:  "of other types",
			patch: mutations(jsonPatch(`JSONPatch{op: "add"}`) + ", " + jsonPatch("null") + ", " + apply(`{"spec": {"replicas": 3}}`) + ", " + apply("Object.spec{}")),
			want: []string{
				patch + `: Invalid value: "JSONPatch{op: \"add\"}": must evaluate to list(JSONPatch) but got JSONPatch`,
				`spec.mutations[1].jsonPatch.expression: Invalid value: "null": must evaluate to list(JSONPatch) but got null_type`,
				`spec.mutations[2].applyConfiguration.expression: Invalid value: "{\"spec\": {\"replicas\": 3}}": must evaluate to Object but got map(string, map(string, int))`,
				`spec.mutations[3].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec`,
			},
		},
		{
			name:  "quoted without surrounding space",
			patch: mutations(jsonPatch("  nothing ") + ", " + apply(" nothing")),
			want:  []string{undeclared(patch, "nothing", "nothing"), undeclared("spec.mutations[1].applyConfiguration.expression", "nothing", "nothing")},
		},
		{
			name:  "params without a paramKind",
			patch: mutations(apply("params.x")),
			want:  []string{undeclared(config, "params.x", "params")},
		},
		{
			name:  "variable that is not there",
			patch: mutations(apply("variables.a")),
			want:  []string{config + `: Invalid value: "variables.a": compilation failed: ` + "ERROR: <input>:1:10: undefined field 'a'\n | variables.a\n | .........^"},
		},
		{
			name:  "variable that is a patch",
			patch: "spec: {variables: [{name: a, expression: 'JSONPatch{}'}]}",
			want: []string{`spec.variables[0].expression: Invalid value: "JSONPatch{}": compilation failed: ` +
				"ERROR: <input>:1:10: undeclared reference to 'JSONPatch' (in container '')\n | JSONPatch{}\n | .........^"},
		},
		{
			name:  "patch with an unknown field",
			patch: mutations(jsonPatch("[JSONPatch{do: 1}]")),
			want:  []string{patch + `: Invalid value: "[JSONPatch{do: 1}]": compilation failed: ` + "ERROR: <input>:1:14: expected type of field 'do' is '' but provided type is 'int'\n | [JSONPatch{do: 1}]\n | .............^"},
		},
		{
			name:  "patch with an unknown operation",
			patch: mutations(jsonPatch("[JSONPatch{op: 'swap'}]")),
			want: []string{patch + `: Invalid value: "[JSONPatch{op: 'swap'}]": compilation failed: ` + "ERROR: <input>:1:16: unknown operation 'swap' of a JSON patch: " +
				"must be one of add, copy, move, remove, replace, test\n | [JSONPatch{op: 'swap'}]\n | ...............^"},
		},
		{name: "stored unknown operation", patch: "{metadata: {labels: {a: b}}, " + mutations(jsonPatch("[JSONPatch{op: 'swap'}]")) + "}", old: new(mutations(jsonPatch("[JSONPatch{op: 'swap'}]")))},
		{name: "changed", patch: mutations(jsonPatch("[JSONPatch{}]")), old: new("")},
		{
			name:  "faults that were there before",
			patch: mutations("{patchType: Merge}"),
			old:   new(mutations("{patchType: JSONPatch}")),
			want:  []string{first + `.patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`},
		},
	})
}

// An update may keep stored patch types and expressions, some of which Kubernetes rejects.
func TestStoredMutations(t *testing.T) {
	const (
		label    = "metadata: {labels: {a: b}}"
		included = `[1].includes(1) ? [JSONPatch{}] : []`
		config   = `Object{x: [1].includes(1)}`
	)
	refused := func(path, source, position, dots string) string {
		return path + `: Invalid value: "` + source + `": compilation failed: ERROR: <input>:1:` + position +
			": undeclared reference to 'includes' (in container '')\n | " + source + "\n | " + dots + "^"
	}
	with := func(patch string) string { return "{" + label + ", " + patch + "}" }
	variable := "spec: {variables: [{name: a, expression: '[1].includes(1)'}]}"
	conditions := "spec: {matchConditions: [{name: a, expression: '[1].includes(1)'}, {name: b, expression: nothing}]}"
	runInlinePolicies(t, []testCase{
		{name: "new patch", patch: mutations(jsonPatch(included)), want: []string{refused("spec.mutations[0].jsonPatch.expression", included, "13", "............")}},
		{name: "new configuration", patch: mutations(apply(config)), want: []string{refused("spec.mutations[0].applyConfiguration.expression", config, "23", "......................")}},
		{name: "stored patch", patch: with(mutations(jsonPatch(included))), old: new(mutations(jsonPatch(included)))},
		{name: "stored configuration", patch: with(mutations(apply(config))), old: new(mutations(apply(config)))},
		{name: "stored variable", patch: with(variable), old: new(variable)},
		{name: "stored match conditions", patch: with(conditions), old: new(conditions)},
		{name: "stored condition", patch: with(mutations("{expression: 'null', condition: '[1].includes(1)'}")), old: new(mutations("{expression: 'null', condition: '[1].includes(1)'}"))},
		{name: "unknown type", patch: with(mutations("{patchType: Later, jsonPatch: {expression: nothing}}")), old: new(mutations("{patchType: Later}"))},
		{
			name:  "unknown values",
			patch: with(mutations("{expression: 'null', reason: Later, reinvocationPolicy: Later}")),
			old:   new(mutations("{expression: 'null', reason: Later, reinvocationPolicy: Later}")),
		},
	})
}

func TestInlineExpressions(t *testing.T) {
	const first = "spec.mutations[0]"
	inline := func(expression string) string { return mutations(fmt.Sprintf("{expression: %q}", expression)) }
	notInline := func(source, got string) []string {
		return []string{fmt.Sprintf("%s.expression: Invalid value: %q: must evaluate to one of [JSONPatch list(JSONPatch) null_type bool] but got %s", first, source, got)}
	}
	runInlinePolicies(t, []testCase{
		{name: "one operation", patch: inline(`JSONPatch{op: "replace", path: "/spec/replicas", value: 5}`)},
		{name: "several operations", patch: inline(`object.spec.containers.map(c, JSONPatch{op: "test", path: "/" + jsonpatch.escapeKey(c.name)})`)},
		{name: "an operation or nothing", patch: inline("has(object.spec) ? JSONPatch{} : null")},
		{name: "operations or nothing", patch: inline("has(object.spec) ? [JSONPatch{}] : null")},
		{name: "nothing", patch: inline("null")},
		{name: "accepted or refused", patch: inline("object.spec.replicas <= 5")},
		{name: "variables", patch: "spec: {variables: [{name: a, expression: 'true'}], mutations: [{expression: variables.a}]}"},
		{name: "a number", patch: inline("1"), want: notInline("1", "int")},
		{name: "of unknown type", patch: inline("object.spec"), want: notInline("object.spec", "dyn")},
		{name: "an object", patch: inline("Object{}"), want: notInline("Object{}", "Object")},
		{name: "faulty", patch: inline(" nothing "), want: []string{undeclared(first+".expression", "nothing", "nothing")}},
		{name: "blank", patch: inline(" "), want: []string{first + ".expression: Required value"}},
		{name: "empty", patch: inline(""), want: []string{first + ".expression: Required value"}},
		{
			name:  "and a patch type",
			patch: mutations("{expression: 'null', patchType: JSONPatch, jsonPatch: {}, applyConfiguration: {}, jsonMergePatch: {}, strategicMergePatch: {}}"),
			want: []string{
				first + `.patchType: Invalid value: "JSONPatch": must not be specified when there is an expression`,
				first + `.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when there is an expression`,
				first + `.jsonPatch: Invalid value: "{jsonPatch}": must not be specified when there is an expression`,
				first + `.jsonMergePatch: Invalid value: "{jsonMergePatch}": must not be specified when there is an expression`,
				first + `.strategicMergePatch: Invalid value: "{strategicMergePatch}": must not be specified when there is an expression`,
			},
		},
	})
}

func TestMergePatches(t *testing.T) {
	for field, patchType := range map[string]string{"jsonMergePatch": "JSONMergePatch", "strategicMergePatch": "StrategicMergePatch"} {
		path := "spec.mutations[0]." + field
		with := func(expression string) string { return mutations(mutate(patchType, field, expression)) }
		notMerge := func(source, got string) []string {
			return []string{fmt.Sprintf("%s.expression: Invalid value: %q: must evaluate to Object or a map with keys of type string but got %s", path, source, got)}
		}
		runInlinePolicies(t, []testCase{
			{name: patchType + " object", patch: with("Object{spec: Object.spec{replicas: 3}}")},
			{name: patchType + " mixed map", patch: with(`{"spec": dyn({"replicas": null}), "metadata": dyn({"labels": {"a": "b"}})}`)},
			{name: patchType + " uniform map", patch: with(`{"spec": {"replicas": 3}}`)},
			{name: patchType + " empty map", patch: with("{}")},
			{name: patchType + " map by number", patch: with("{1: 2}"), want: notMerge("{1: 2}", "map(int, int)")},
			{name: patchType + " part of an object", patch: with("Object.spec{}"), want: notMerge("Object.spec{}", "Object.spec")},
			{name: patchType + " list", patch: with("[1]"), want: notMerge("[1]", "list(int)")},
			{name: patchType + " unknown", patch: with("object.spec"), want: notMerge("object.spec", "dyn")},
			{name: patchType + " faulty", patch: with("nothing"), want: []string{undeclared(path+".expression", "nothing", "nothing")}},
			{name: patchType + " blank", patch: with(" "), want: []string{path + ".expression: Required value"}},
			{
				name:  patchType + " with another body",
				patch: mutations("{patchType: " + patchType + ", jsonPatch: {}}"),
				want: []string{
					path + ": Required value: must be specified when patchType is " + patchType,
					`spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ` + patchType,
				},
			},
			{
				name:  patchType + " with another type",
				patch: mutations("{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{}]'}, " + field + ": {}}"),
				want:  []string{path + `: Invalid value: "{` + field + `}": must not be specified when patchType is JSONPatch`},
			},
		})
	}
	runInlinePolicies(t, []testCase{{
		name:  "unknown type",
		patch: mutations("{patchType: Merge}"),
		want: []string{`spec.mutations[0].patchType: Unsupported value: "Merge": supported values: ` +
			`"ApplyConfiguration", "JSONMergePatch", "JSONPatch", "StrategicMergePatch"`},
	}})
}

func TestMutationFields(t *testing.T) {
	const first = "spec.mutations[0]"
	with := func(fields string) string { return mutations("{expression: 'null', " + fields + "}") }
	runInlinePolicies(t, []testCase{
		{name: "all", patch: with("condition: object.spec.replicas > 5, message: too many, reason: Forbidden, reinvocationPolicy: IfNeeded")},
		{
			name:  "of a patch",
			patch: mutations("{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{}]'}, condition: 'true', message: so it is, reason: Invalid, reinvocationPolicy: Never}"),
		},
		{name: "condition on a variable", patch: "spec: {variables: [{name: a, expression: 'true'}], mutations: [{expression: 'null', condition: variables.a}]}"},
		{name: "condition on the user", patch: with("condition: authorizer.requestResource.check('get').allowed()")},
		{name: "condition that is no bool", patch: with("condition: '1'"), want: []string{first + `.condition: Invalid value: "1": must evaluate to bool but got int`}},
		{name: "condition of unknown type", patch: with("condition: object.x"), want: []string{first + `.condition: Invalid value: "object.x": must evaluate to bool but got dyn`}},
		{name: "condition with patches", patch: with("condition: 'jsonpatch.escapeKey(\"a\") == \"a\"'"), want: []string{
			first + `.condition: Invalid value: "jsonpatch.escapeKey(\"a\") == \"a\"": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'jsonpatch' (in container '')\n | jsonpatch.escapeKey(\"a\") == \"a\"\n | ^\n" +
				"ERROR: <input>:1:20: undeclared reference to 'escapeKey' (in container '')\n | jsonpatch.escapeKey(\"a\") == \"a\"\n | ...................^",
		}},
		{name: "blank condition", patch: with("condition: ' '"), want: []string{first + ".condition: Required value"}},
		{name: "empty message", patch: with("message: ''"), want: []string{first + `.message: Invalid value: "": must be non-empty if specified`}},
		{name: "blank message", patch: with("message: ' '"), want: []string{first + `.message: Invalid value: " ": must be non-empty if specified`}},
		{name: "message of two lines", patch: with(`message: "a\nb"`), want: []string{first + `.message: Invalid value: "a\nb": must not contain line breaks`}},
		{name: "unknown reason", patch: with("reason: Odd"), want: []string{first + `.reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`}},
		{name: "empty reason", patch: with("reason: ''"), want: []string{first + `.reason: Unsupported value: "": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`}},
		{name: "unknown reinvocation", patch: with("reinvocationPolicy: Always"), want: []string{first + `.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`}},
		{
			name:  "unknown where others are stored",
			patch: with("reason: Odd, reinvocationPolicy: Always"),
			old:   new(with("reason: Strange, reinvocationPolicy: Rarely")),
			want: []string{
				first + `.reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
				first + `.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`,
			},
		},
	})
}
