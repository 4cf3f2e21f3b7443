// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"
)

// Expressions of several examples.
const (
	// one changes any object that has metadata.
	one       = `Object{metadata: Object.metadata{labels: {"one": "1"}}}`
	two       = `Object{metadata: Object.metadata{labels: {"two": "2"}}}`
	increment = `Object{spec: Object.spec{replicas: object.spec.replicas + 1}}`
	failing   = "object.spec.none == 'x'"
	invalid   = "object.spec.("
	wrongType = "'text'"
	// search costs about 900,000 of the 1,000,000 units that a call may cost.
	search = "variables.text.contains(variables.text)"
)

// costly declares a variable with the text and the given number of variables that search it.
func costly(variables int) func(*spec) {
	declared := []string{"text", "'" + strings.Repeat("a", 9500) + "'"}
	for i := range variables {
		declared = append(declared, fmt.Sprint("s", i), search)
	}
	return let(declared...)
}

// found reads the variables that costly declares.
func found(variables int) string {
	var read []string
	for i := range variables {
		read = append(read, fmt.Sprint("variables.s", i))
	}
	return strings.Join(read, " && ") + " ? 'y' : 'n'"
}

// labelled returns an apply configuration that sets a label to the value of an expression.
func labelled(name, value string) string {
	return `Object{metadata: Object.metadata{labels: {"` + name + `": ` + value + `}}}`
}

const (
	hasOne = `"one":"1"`
	hasTwo = `"two":"2"`
)

// evaluations are examples of expressions: of the variables that they read, and of their errors.
func evaluations() map[string]example {
	set := func(value string) spec { return applying(labelled("v", value)) }
	const byNothing = "oldObject == null ? string([1][oldObject]) : 'some'"
	got := func(value string) []string { return []string{`"v":"` + value + `"`} }
	return map[string]example{
		"object":                         {spec: set("object.metadata.name"), want: got("web")},
		"old object":                     {on: "update", spec: set("string(oldObject.spec.replicas)"), want: got("3")},
		"index by no old object":         {spec: set(byNothing), fails: "expression '" + labelled("v", byNothing) + "' resulted in error: invalid qualifier type: <nil>"},
		"no old object":                  {spec: set("oldObject == null ? 'none' : 'some'"), want: got("none")},
		"request":                        {spec: set("request.operation + request.kind.kind + request.resource.resource + request.namespace + request.userInfo.username"), want: got("CREATEDeploymentdeploymentsbluejane")},
		"request of an equivalent":       {spec: with(set("request.kind.group + ' ' + request.requestKind.group + ' ' + request.resource.group"), matched(matching("Equivalent", rule("extensions", "v1beta1", "deployments")))), want: got("extensions apps extensions")},
		"request options":                {on: "create dry", spec: set("string(request.dryRun) + request.options.dryRun[0]"), want: got("trueAll")},
		"namespace":                      {spec: set("namespaceObject.metadata.labels['name']"), want: got("blue")},
		"no namespace":                   {on: "create node", spec: set("namespaceObject == null ? 'none' : 'some'"), want: got("none")},
		"namespace of a namespace":       {on: "create namespace", spec: set("namespaceObject == null ? 'none' : 'some'"), want: got("none")},
		"missing namespace":              {on: "create nowhere", spec: set("'x'"), fails: `(NotFound 404) namespaces "nowhere" not found`},
		"no params":                      {spec: set("params == null ? 'none' : 'some'"), fails: "compilation failed: ERROR: <input>:1:48: undeclared reference to 'params' (in container '')\n | Object{metadata: Object.metadata{labels: {\"v\": params == null ? 'none' : 'some'}}}\n | ...............................................^"},
		"authorizer":                     {spec: set("authorizer.group('apps').resource('deployments').check('get').allowed() ? 'may' : 'may not'"), want: got("may")},
		"authorizer of the request":      {spec: set("authorizer.requestResource.check('refuse').reason()"), want: got("you may not")},
		"authorizer that fails":          {spec: set("authorizer.requestResource.check('fail').error()"), want: got("authorizer is down")},
		"authorizer of others":           {on: "create by robot", spec: set("authorizer.serviceAccount('blue', 'robot').check('read').allowed() ? 'y' : 'n'"), fails: "compilation failed: ERROR: <input>:1:96: found no matching overload for 'check' applied to 'kubernetes.authorization.Authorizer.(string)'\n | Object{metadata: Object.metadata{labels: {\"v\": authorizer.serviceAccount('blue', 'robot').check('read').allowed() ? 'y' : 'n'}}}\n | ...............................................................................................^"},
		"libraries":                      {spec: set("['b', 'a'].sort().join('-') + string(quantity('1Gi').asInteger()) + url('http://h/p').getHost()"), want: got("a-b1073741824h")},
		"two-variable":                   {spec: set("['b', 'a'].transformList(i, v, v + string(i)).join(',')"), want: got("b0,a1")},
		"strings":                        {spec: set("'a-b'.split('-')[1].upperAscii()"), want: got("B")},
		"error":                          {spec: set("object.spec.none"), fails: `expression 'Object{metadata: Object.metadata{labels: {"v": object.spec.none}}}' resulted in error: no such key: none`},
		"error in one of two":            {spec: with(applying(one), and(set("object.spec.none"))), want: []string{hasOne}, fails: `expression 'Object{metadata: Object.metadata{labels: {"v": object.spec.none}}}' resulted in error: no such key: none`},
		"error ignored":                  {spec: with(applying(one), and(set("object.spec.none")), and(applying(two)), ignoring), want: []string{hasOne, hasTwo}},
		"error in a JSON patch":          {spec: patching("[JSONPatch{op: 'add', path: object.spec.none, value: 1}]"), fails: `expression '[JSONPatch{op: 'add', path: object.spec.none, value: 1}]' resulted in error: no such key: none`},
		"error in a JSON patch's value":  {spec: patching("[JSONPatch{op: 'add', path: '/spec/replicas', value: object.spec.none}]"), fails: `expression '[JSONPatch{op: 'add', path: '/spec/replicas', value: object.spec.none}]' resulted in error: no such key: none`},
		"error in a JSON patch's path":   {spec: patching("[JSONPatch{op: 'add', path: 1, value: 1}]"), fails: "compilation failed: ERROR: <input>:1:27: expected type of field 'path' is 'string' but provided type is 'int'\n | [JSONPatch{op: 'add', path: 1, value: 1}]\n | ..........................^"},
		"unknown field of a JSON patch":  {spec: patching("[JSONPatch{op: 'add', path: '/a', values: 1}]"), fails: "compilation failed: ERROR: <input>:1:41: expected type of field 'values' is '' but provided type is 'int'\n | [JSONPatch{op: 'add', path: '/a', values: 1}]\n | ........................................^"},
		"does not compile":               {spec: applying(invalid), fails: "compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.('\n | object.spec.(\n | ............^"},
		"one does not compile":           {spec: applying(one, invalid, two), want: []string{hasOne, hasTwo}, fails: "compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.('\n | object.spec.(\n | ............^"},
		"does not compile, ignored":      {spec: with(applying(one, invalid), ignoring), want: []string{hasOne}},
		"unknown name":                   {spec: applying(labelled("v", "nothing.at.all")), fails: "compilation failed: ERROR: <input>:1:48: undeclared reference to 'nothing' (in container '')\n | Object{metadata: Object.metadata{labels: {\"v\": nothing.at.all}}}\n | ...............................................^"},
		"JSON patch of wrong type":       {spec: patching(one), fails: "must evaluate to list(JSONPatch) but got Object"},
		"JSON patch, not a list":         {spec: patching("JSONPatch{op: 'remove', path: '/spec'}"), fails: `must evaluate to list(JSONPatch) but got JSONPatch`},
		"configuration of wrong type":    {spec: applying("[JSONPatch{op: 'remove', path: '/spec'}]"), fails: `must evaluate to Object but got list(JSONPatch)`},
		"costs a lot":                    {spec: with(set(search+" ? 'y' : 'n'"), costly(0)), want: got("y")},
		"costs too much":                 {spec: with(set(search+" && "+search+" ? 'y' : 'n'"), costly(0)), fails: `expression 'Object{metadata: Object.metadata{labels: {"v": variables.text.contains(variables.text) && variables.text.contains(variables.text) ? 'y' : 'n'}}}' resulted in error: operation cancelled: actual cost limit exceeded`},
		"costs a lot with variables":     {spec: with(set(found(10)), costly(10)), want: got("y")},
		"costs too much with variables":  {spec: with(set(found(12)), costly(12)), fails: `validation failed due to running out of cost budget, no further validation rules will be run`},
		"costs too much, ignored":        {spec: with(set(found(12)), and(applying(one)), costly(12), ignoring), want: []string{hasOne}},
		"each mutation has its budget":   {spec: with(applying(labelled("a", found(7)), labelled("b", found(7))), costly(7)), want: []string{`"a":"y"`, `"b":"y"`}},
		"goes on after too much":         {spec: with(set(found(12)), and(applying(one)), costly(12)), want: []string{hasOne}, fails: `validation failed due to running out of cost budget, no further validation rules will be run`},
		"variable":                       {spec: with(set("variables.v"), let("v", "object.metadata.name + '!'")), want: got("web!")},
		"variables of variables":         {spec: with(set("variables.b"), let("a", "object.metadata.name", "b", "variables.a + variables.a")), want: got("webweb")},
		"variable of before":             {spec: with(applying("Object{spec: Object.spec{replicas: variables.n + 1}}", "Object{spec: Object.spec{replicas: variables.n * 2}}"), let("n", "object.spec.replicas")), want: []string{`"replicas":20`}},
		"variable with an error":         {spec: with(set("variables.v"), let("v", "object.spec.none")), fails: `expression 'Object{metadata: Object.metadata{labels: {"v": variables.v}}}' resulted in error: composited variable "v" fails to evaluate: no such key: none`},
		"unused variable with an error":  {spec: with(set("'x'"), let("v", "object.spec.none")), want: got("x")},
		"variable that does not compile": {spec: with(set("variables.v"), let("v", invalid)), fails: "expression 'Object{metadata: Object.metadata{labels: {\"v\": variables.v}}}' resulted in error: composited variable \"v\" fails to compile: compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.('\n | object.spec.(\n | ............^"},
		"unknown variable":               {spec: with(set("variables.w"), let("v", "1")), fails: "compilation failed: ERROR: <input>:1:57: undefined field 'w'\n | Object{metadata: Object.metadata{labels: {\"v\": variables.w}}}\n | ........................................................^"},
		"variable of an object":          {spec: with(applying("Object{spec: Object.spec{strategy: variables.s}}"), let("s", "object.spec.strategy"))},
		"variable in a JSON patch":       {spec: with(patching("[JSONPatch{op: 'replace', path: '/spec/replicas', value: variables.n}]"), let("n", "object.spec.replicas + 1")), want: []string{`"replicas":10`}},
		"variable of a patch":            {spec: with(patching("[variables.p]"), let("p", "JSONPatch{op: 'remove', path: '/spec'}")), fails: `must evaluate to list(JSONPatch) but got list(dyn)`},
		"variable of a list":             {spec: with(patching("variables.names.map(n, JSONPatch{op: 'add', path: '/metadata/labels/' + n, value: n})"), let("names", "object.spec.template.spec.containers.map(c, c.name)")), want: []string{`"main":"main","side":"side"`}},
		"element of the object":          {spec: patching(`[JSONPatch{op: "add", path: "/spec/template/spec/initContainers", value: [object.spec.template.spec.containers[1]]}]`), want: []string{`"initContainers":[{"name":"side"`}},
		"element in an object":           {spec: patching(`[JSONPatch{op: "replace", path: "/spec/template/spec", value: Object.spec.template.spec{containers: [object.spec.template.spec.containers[1]]}}]`), want: []string{`"spec":{"containers":[{"name":"side"`}},
		"element in a configuration":     {spec: applying(`Object{metadata: Object.metadata{ownerReferences: [], labels: object.spec.template.spec.nodeSelector}}`), want: []string{`"disk":"fast"`}},
		"containers as they are":         {spec: applying(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{volumes: [object.spec.template.spec.volumes[0]]}}}}`)},
		"containers as they were":        {on: "update", spec: applying(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{volumes: oldObject.spec.template.spec.volumes}}}}`)},
		"a list and more":                {on: "create pod", spec: applying(`Object{metadata: Object.metadata{finalizers: object.metadata.finalizers + ["example.com/c"]}}`), want: []string{`"finalizers":["example.com/a","example.com/b","example.com/c"]`}},
	}
}
