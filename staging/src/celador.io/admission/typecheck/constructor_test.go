// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/expression"
)

const (
	podSpec    = "Object.spec.template.spec"
	containers = podSpec + ".containers"
)

// within returns an expression that constructs a Deployment whose pod spec has the given fields.
func within(fields string) string {
	return "Object{spec: Object.spec{template: Object.spec.template{spec: " + podSpec + "{" + fields + "}}}}"
}

// All of these expressions compile for Deployments without schemas.
var deployments = map[string]struct {
	source string
	want   []string // parts of the findings, in order
}{
	"nothing":                  {"Object{}", nil},
	"leading dot":              {".Object{spec: .Object.spec{replicas: 'five'}}", []string{"field 'replicas' is 'int' but provided type is 'string'"}},
	"fields":                   {"Object{spec: Object.spec{replicas: 5, paused: true, template: Object.spec.template{}}}", nil},
	"type and identity":        {"Object{apiVersion: 'apps/v1', kind: 'Deployment', metadata: Object.metadata{name: 'a', namespace: 'b'}}", nil},
	"unknown field":            {"Object{spec: Object.spec{replicaz: 1}}", []string{"<input>:1:34: undefined field 'replicaz'"}},
	"unknown field at the top": {"Object{specs: Object.spec{}}", []string{"<input>:1:13: undefined field 'specs'"}},
	"unknown type":             {"Object{spec: Object.spek{}}", []string{"<input>:1:25: undeclared reference to 'Object.spek' (in container '')"}},
	"unknown type below":       {"Object{spec: Object.spec{template: Object.spec.template.spek.containers{}}}", []string{"undeclared reference to 'Object.spec.template.spek.containers'"}},
	"type of text":             {"Object{spec: Object.spec{replicas: Object.spec.replicas{}}}", []string{"undeclared reference to 'Object.spec.replicas'"}},
	"type of texts":            {"Object{metadata: Object.metadata{finalizers: [Object.metadata.finalizers{}]}}", []string{"undeclared reference to 'Object.metadata.finalizers'"}},
	"another field's type":     {"Object{spec: Object.metadata{}}", []string{"<input>:1:12: expected type of field 'spec' is 'Object.spec' but provided type is 'Object.metadata'"}},
	"its parent's type":        {"Object{spec: Object{}}", []string{"expected type of field 'spec' is 'Object.spec' but provided type is 'Object'"}},
	"wrong twice":              {"Object{spec: Object.spec{replicas: 'a', paused: 1}}", []string{"field 'replicas' is 'int' but provided type is 'string'", "field 'paused' is 'bool' but provided type is 'int'"}},
	"text for a number":        {"Object{spec: Object.spec{replicas: 'five'}}", []string{"<input>:1:34: expected type of field 'replicas' is 'int' but provided type is 'string'"}},
	"bool for a number":        {"Object{spec: Object.spec{replicas: 1 == 1}}", []string{"field 'replicas' is 'int' but provided type is 'bool'"}},
	"number for text":          {within("schedulerName: 5"), []string{"field 'schedulerName' is 'string' but provided type is 'int'"}},
	"number for bool":          {"Object{spec: Object.spec{paused: 1}}", []string{"field 'paused' is 'bool' but provided type is 'int'"}},
	"list for a number":        {"Object{spec: Object.spec{replicas: [5]}}", []string{"field 'replicas' is 'int' but provided type is 'list(int)'"}},
	"type for text":            {within("schedulerName: type(5)"), []string{"field 'schedulerName' is 'string' but provided type is 'type(int)'"}},
	"other numbers":            {"Object{spec: Object.spec{replicas: 5.0, minReadySeconds: 5u}}", nil},
	"number or text":           {"Object{spec: Object.spec{strategy: Object.spec.strategy{rollingUpdate: Object.spec.strategy.rollingUpdate{maxSurge: '25%', maxUnavailable: 1}}}}", nil},
	"quantities":               {within("overhead: {'cpu': 1}, containers: [" + containers + "{resources: " + containers + ".resources{limits: {'cpu': '1'}}}]"), nil},
	"null":                     {"Object{spec: Object.spec{replicas: null, template: null, strategy: null}, metadata: Object.metadata{labels: null, finalizers: null}}", nil},
	"what has a text":          {"Object{metadata: Object.metadata{creationTimestamp: timestamp('2026-01-02T03:04:05Z'), annotations: {'b': b'abc'}, name: duration('1h')}}", nil},
	"unknown value":            {"Object{spec: Object.spec{replicas: dyn('5'), template: dyn(1), selector: params.a}}", nil},

	"optional":                 {"Object{spec: Object.spec{?replicas: optional.none(), ?paused: optional.of(true), ?template: object.?spec.?template}}", nil},
	"optional, wrong":          {"Object{spec: Object.spec{?replicas: optional.of('5')}}", []string{"field 'replicas' is 'int' but provided type is 'optional_type(string)'"}},
	"optional, unknown":        {"Object{spec: Object.spec{?replicaz: optional.none()}}", []string{"undefined field 'replicaz'"}},
	"optional as a value":      {"Object{spec: Object.spec{replicas: optional.of(5)}}", nil},
	"optional from the object": {"Object{spec: Object.spec{?replicas: object.spec.?replicas, ?paused: object.spec.?replicas}}", []string{"field 'paused' is 'bool' but provided type is 'optional_type(int)'"}},

	"map":                       {"Object{metadata: Object.metadata{labels: {'a': 'b'}}}", nil},
	"empty map":                 {"Object{metadata: Object.metadata{labels: {}}}", nil},
	"map of something else":     {"Object{metadata: Object.metadata{labels: {'a': 1}}}", []string{"field 'labels' is 'map(string, string)' but provided type is 'map(string, int)'"}},
	"map by numbers":            {"Object{metadata: Object.metadata{labels: {1: 'a'}}}", []string{"field 'labels' is 'map(string, string)' but provided type is 'map(int, string)'"}},
	"map, optional entries":     {"Object{metadata: Object.metadata{labels: {?'a': optional.none(), ?'b': optional.of('c')}}}", nil},
	"map as an object":          {"Object{metadata: Object.metadata{labels: Object.metadata.labels{a: 'b'}}}", nil},
	"map as an object, wrong":   {"Object{metadata: Object.metadata{labels: Object.metadata.labels{a: 1}}}", []string{"field 'a' is 'string' but provided type is 'int'"}},
	"map as another object":     {"Object{metadata: Object.metadata{labels: Object.metadata.annotations{a: 'b'}}}", []string{"field 'labels' is 'map(string, string)' but provided type is 'Object.metadata.annotations'"}},
	"map from the object":       {"Object{metadata: Object.metadata{annotations: object.metadata.labels}}", nil},
	"list for a map":            {"Object{metadata: Object.metadata{labels: ['a']}}", []string{"field 'labels' is 'map(string, string)' but provided type is 'list(string)'"}},
	"map for an object":         {"Object{spec: {'replicas': 5}}", nil},
	"map by numbers for one":    {"Object{spec: {1: 5}}", []string{"field 'spec' is 'Object.spec' but provided type is 'map(int, int)'"}},
	"map with objects for one":  {"Object{spec: {'template': Object.spec.template{}}}", []string{"field 'spec' is 'Object.spec' but provided type is 'map(string, Object.spec.template)'"}},
	"part of the object":        {"Object{spec: object.spec, metadata: oldObject.metadata}", nil},
	"part for text":             {"Object{metadata: Object.metadata{name: object.metadata}}", []string{"field 'name' is 'string' but provided type is 'apps/v1.Deployment.metadata'"}},
	"number from the object":    {"Object{spec: Object.spec{replicas: object.spec.replicas + 1, paused: object.spec.replicas}}", []string{"field 'paused' is 'bool' but provided type is 'int'"}},
	"text from a variable":      {"Object{spec: Object.spec{replicas: variables.name}}", []string{"field 'replicas' is 'int' but provided type is 'string'"}},
	"list from a variable":      {within("containers: variables.containers"), nil},
	"object from a variable":    {"Object{spec: Object.spec{template: variables.template}}", nil},
	"object that is one or not": {"Object{spec: has(object.spec.template) ? object.spec : Object.spec{replicas: 1}}", nil},
	"object that is or is new":  {"Object{spec: object.?spec.orValue(Object.spec{replicas: 1})}", nil},
	"wrong in an alternative":   {"Object{spec: has(object.spec.template) ? object.spec : Object.spec{replicas: 'a'}}", []string{"field 'replicas' is 'int' but provided type is 'string'"}},

	"list":                       {within("containers: [" + containers + "{name: 'a'}, " + containers + "{name: 'b'}]"), nil},
	"list of none":               {within("containers: [], volumes: [?optional.none()]"), nil},
	"list of optionals":          {within("containers: [?optional.of(" + containers + "{name: 'a'})]"), nil},
	"list of unknown fields":     {within("containers: [" + containers + "{nam: 'a'}]"), []string{"undefined field 'nam'"}},
	"list of others":             {within("containers: [" + podSpec + ".initContainers{name: 'a'}]"), []string{"field 'containers' is 'list(" + containers + ")' but provided type is 'list(" + podSpec + ".initContainers)'"}},
	"list of texts":              {within("containers: ['a']"), []string{"field 'containers' is 'list(" + containers + ")' but provided type is 'list(string)'"}},
	"list of numbers":            {"Object{metadata: Object.metadata{finalizers: [1]}}", []string{"field 'finalizers' is 'list(string)' but provided type is 'list(int)'"}},
	"list of lists":              {"Object{metadata: Object.metadata{finalizers: [['a']]}}", []string{"field 'finalizers' is 'list(string)' but provided type is 'list(list(string))'"}},
	"list of maps":               {within("containers: [{'name': 'a'}]"), nil},
	"list from the object":       {within("containers: object.spec.template.spec.containers"), nil},
	"list and more":              {within("containers: object.spec.template.spec.containers + [" + containers + "{name: 'a'}]"), nil},
	"list and more, turned":      {within("containers: [" + containers + "{name: 'a'}] + object.spec.template.spec.containers"), nil},
	"list and wrong ones":        {within("containers: object.spec.template.spec.containers + [" + containers + "{nam: 'a'}]"), []string{"undefined field 'nam'"}},
	"list of both":               {within("containers: [object.spec.template.spec.containers[0], dyn(" + containers + "{name: 'a'})]"), nil},
	"list of one and the other":  {within("containers: object.spec.template.spec.containers.map(c, has(c.image) ? c : " + containers + "{name: c.name})"), nil},
	"list when":                  {within("containers: object.spec.replicas > 1 ? [" + containers + "{name: 'a'}] : []"), nil},
	"list by macro":              {within("containers: object.spec.template.spec.containers.map(c, " + containers + "{name: c.name, env: [" + containers + ".env{name: 'A', value: c.image}]})"), nil},
	"list by macro, wrong":       {within("containers: object.spec.template.spec.containers.map(c, " + containers + "{name: c.ports})"), []string{"field 'name' is 'string' but provided type is 'list(apps/v1.Deployment.spec.template.spec.containers.@idx.ports.@idx)'"}},
	"list by macro, unknown":     {within("containers: object.spec.template.spec.containers.map(c, " + containers + "{name: c.nam})"), []string{"undefined field 'nam'"}},
	"list that is filtered":      {within("containers: object.spec.template.spec.containers.filter(c, c.image != '')"), nil},
	"object for a list":          {within("containers: " + containers + "{name: 'a'}"), []string{"field 'containers' is 'list(" + containers + ")' but provided type is '" + containers + "'"}},
	"list for an object":         {"Object{spec: Object.spec{template: []}}", []string{"field 'template' is 'Object.spec.template' but provided type is 'list(dyn)'"}},
	"elements of different type": {within("containers: [" + containers + "{ports: [" + containers + ".ports{containerPort: '80'}]}]"), []string{"field 'containerPort' is 'int' but provided type is 'string'"}},
	"two lines":                  {"Object{\n  spec: Object.spec{\n    replicaz: 1}}", []string{"<input>:3:13: undefined field 'replicaz'"}},

	"operation":                   {"[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey(object.metadata.name), value: 1}]", nil},
	"operation on something":      {"[JSONPatch{op: 'add', path: '/spec/nothing', value: 1}]", nil},
	"operation with an object":    {"[JSONPatch{op: 'add', path: '/spec/strategy', value: Object.spec.strategy{type: 1}}]", []string{"field 'type' is 'string' but provided type is 'int'"}},
	"operation with objects":      {"[JSONPatch{op: 'add', path: '/a', value: [Object.spec.strategi{}]}]", []string{"undeclared reference to 'Object.spec.strategi'"}},
	"operation on a number":       {"[JSONPatch{op: 'remove', path: object.spec.replicas}]", []string{"expected type of field 'path' is 'string' but provided type is 'int'"}},
	"operation with what is not":  {"[JSONPatch{op: 'add', path: '/a', value: object.spec.nothing}]", []string{"undefined field 'nothing'"}},
	"operations of all sorts":     {"[JSONPatch{op: 'test', path: '/a', value: 1}, JSONPatch{op: 'move', from: '/a', path: '/b'}] + (object.spec.replicas > 1 ? [JSONPatch{op: 'remove', path: '/b'}] : [])", nil},
	"value of anything":           {"[JSONPatch{op: 'add', path: '/a', value: {'name': object.metadata.name, 'size': object.spec.replicas, 'all': object.spec}}]", nil},
	"value of a list of anything": {"[JSONPatch{op: 'add', path: '/a', value: [object.metadata.name, object.spec.replicas, dyn('a')]}]", nil},
	"value of one or another":     {"[JSONPatch{op: 'add', path: '/a', value: object.spec.paused ? object.spec.replicas : object.metadata.name}]", nil},
	"value on no condition":       {"[JSONPatch{op: 'add', path: '/a', value: object.metadata.name ? 1 : 2}]", []string{"no matching overload for '_?_:_' applied to '(string, int, int)'"}},
	"value or another":            {"[JSONPatch{op: 'add', path: '/a', value: object.spec.?replicas.orValue(object.metadata.name)}]", nil},
	"optional entries of any":     {"[JSONPatch{op: 'add', path: '/a', value: {?'name': object.metadata.?name, ?'size': object.spec.?replicas}}]", nil},
	"optional entries of either":  {"[JSONPatch{op: 'add', path: '/a', value: [?object.spec.paused ? object.metadata.?name : object.spec.?replicas, ?object.metadata.?name]}]", nil},
	"optional entry that is not":  {"[JSONPatch{op: 'add', path: '/a', value: [?object.spec.paused ? object.metadata.?name : object.spec.?replicas, ?object.metadata.?nothing]}]", []string{"undefined field 'nothing'"}},
	"anything, but what is not":   {"[JSONPatch{op: 'add', path: '/a', value: {'name': object.metadata.name, 'size': object.spec.replicaz, 'is': dyn(has(object.spec.is))}}]", []string{"undefined field 'replicaz'", "undefined field 'is'"}},
}

func TestConstructors(t *testing.T) {
	for name, test := range deployments {
		t.Run(name, func(t *testing.T) {
			p := mutatingPolicy([]v1.Mutation{inline(test.source)}, params("v1", "Nothing"),
				variables("name", "object.metadata.name", "containers", "object.spec.template.spec.containers", "template", "object.spec.template"))
			checkMutation(t, p, builtIn, test.want)
		})
	}
}

func TestConstructorsOfCustomResources(t *testing.T) {
	part := objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})
	described := schemas{widget: widgetSpec(map[string]spec.Schema{
		"size":        *spec.Int64Property(),
		"ratio":       *spec.Float64Property(),
		"amount":      extended(&spec.Schema{}, "x-kubernetes-int-or-string"),
		"free":        extended(objectOf(map[string]spec.Schema{"size": *spec.Int64Property()}), "x-kubernetes-preserve-unknown-fields"),
		"bare":        *objectOf(nil),
		"untyped":     extended(&spec.Schema{}, "x-kubernetes-preserve-unknown-fields"),
		"nullable":    nullable(spec.Int64Property()),
		"maybe":       nullable(part),
		"parts":       *spec.ArrayProperty(part),
		"grid":        *spec.ArrayProperty(spec.ArrayProperty(part)),
		"byName":      *spec.MapProperty(part),
		"groups":      *spec.MapProperty(spec.ArrayProperty(part)),
		"dashed-name": *part,
		"namespace":   *spec.StringProperty(),
		"embedded":    extended(objectOf(nil), "x-kubernetes-embedded-resource"),
	})}
	for name, test := range map[string]struct {
		fields string
		want   []string
	}{
		"fits":                  {"size: 1, parts: [Object.spec.parts{name: 'a'}]", nil},
		"wrong":                 {"size: 'a'", []string{"field 'size' is 'int' but provided type is 'string'"}},
		"unknown":               {"sizes: 1", []string{"undefined field 'sizes'"}},
		"number":                {"ratio: 1", nil},
		"fraction":              {"ratio: 1.5", nil},
		"number or text":        {"amount: 'a'", nil},
		"free":                  {"free: Object.spec.free{size: 1, a: 1, b: [1, 2], c: {'d': 'e'}}", nil},
		"free, known":           {"free: Object.spec.free{size: 'a'}", []string{"field 'size' is 'int' but provided type is 'string'"}},
		"free, nested":          {"free: Object.spec.free{a: Object.spec.free.a{b: [Object.spec.free.a.b{c: 1}]}}", nil},
		"free, another's":       {"free: Object.spec.free{a: Object.spec.free.b{}}", []string{"field 'a' is 'Object.spec.free.a' but provided type is 'Object.spec.free.b'"}},
		"bare":                  {"bare: Object.spec.bare{a: 1, b: Object.spec.bare.b{c: 2}}", nil},
		"untyped":               {"untyped: Object.spec.untyped{a: 1}", nil},
		"untyped, a text":       {"untyped: 'a'", nil},
		"untyped, another's":    {"untyped: [Object.spec.free{}]", []string{"field 'untyped' is 'Object.spec.untyped' but provided type is 'list(Object.spec.free)'"}},
		"nullable":              {"nullable: null", nil},
		"nullable, wrong":       {"nullable: 'a'", []string{"field 'nullable' is 'int' but provided type is 'string'"}},
		"nullable object":       {"maybe: Object.spec.maybe{name: 'a'}", nil},
		"nullable object, read": {"maybe: object.spec.maybe", nil},
		"nullable from another": {"size: object.spec.nullable", nil},
		"lists of lists":        {"grid: [[Object.spec.grid{name: 'a'}], []]", nil},
		"lists of lists, wrong": {"grid: [Object.spec.grid{name: 'a'}]", []string{"field 'grid' is 'list(list(Object.spec.grid))' but provided type is 'list(Object.spec.grid)'"}},
		"map of objects":        {"byName: {'a': Object.spec.byName{name: 'a'}}", nil},
		"map of wrong objects":  {"byName: {'a': Object.spec.byName{name: 1}}", []string{"field 'name' is 'string' but provided type is 'int'"}},
		"map of unknown fields": {"byName: {'a': Object.spec.byName{nam: 'a'}}", []string{"field 'nam' is 'Object.spec.byName.nam' but provided type is 'string'"}},
		"map as an object":      {"byName: Object.spec.byName{a: Object.spec.byName.a{name: 'a'}}", nil},
		"map as wrong object":   {"byName: Object.spec.byName{a: Object.spec.byName.a{name: 1}}", []string{"field 'name' is 'string' but provided type is 'int'"}},
		"map of lists":          {"groups: {'a': [Object.spec.groups{name: 'a'}]}", nil},
		"map of lists, wrong":   {"groups: {'a': Object.spec.groups{name: 'a'}}", []string{"field 'groups' is 'map(string, list(Object.spec.groups))' but provided type is 'map(string, Object.spec.groups)'"}},
		"quoted":                {"`dashed-name`: {'name': 'a'}", nil},
		"escaped":               {"dashed__dash__name: {'name': 'a'}", []string{"undefined field 'dashed__dash__name'"}},
		"keyword":               {"namespace: 'a'", nil},
		"escaped keyword":       {"__namespace__: 'a'", []string{"undefined field '__namespace__'"}},
		"embedded":              {"embedded: Object.spec.embedded{apiVersion: 'v1', kind: 'A', metadata: Object.spec.embedded.metadata{name: 'a'}, other: 1}", nil},
		"embedded, wrong":       {"embedded: Object.spec.embedded{kind: 1}", []string{"field 'kind' is 'string' but provided type is 'int'"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mutatingPolicy([]v1.Mutation{inline("Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{" + test.fields + "}}")}, rule("example.com", "v1", "widgets"))
			checkMutation(t, p, described, test.want)
		})
	}
}

// Names of constructors can be long, and inside nested maps a constructor may stand for many types.
// Beyond some depth, its type is dynamic.
func TestDeepConstructors(t *testing.T) {
	described := tree()
	described.Properties["byKind"] = *spec.MapProperty(described)
	for name, test := range map[string]struct {
		source string
		want   []string
	}{
		"circle":       {"Object.child.children" + strings.Repeat(".child", 100) + "{names: ''}", []string{"undefined field 'names'"}},
		"circle, deep": {"Object" + strings.Repeat(".child", 3_000) + "{names: ''}", nil},
		"lists, deep":  {"Object" + strings.Repeat(".children", 40) + "{names: ''}", nil},
		"map":          {"Object{byName: {'a': Object.byName{byName: {'b': Object.byName.byName{names: ''}}}}}", []string{"field 'names' is 'Object.byName.byName.names' but provided type is 'string'"}},
		"two maps":     {"Object" + strings.Repeat(".byName.byKind", 30) + "{names: ''}", nil},
		"maps, deep":   {"Object" + strings.Repeat(".byName", 3_000) + "{names: ''}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			checkMutation(t, mutatingPolicy([]v1.Mutation{inline(test.source)}, rule("example.com", "v1", "widgets")), schemas{widget: described}, test.want)
		})
	}
}

// checkMutation checks a policy whose only mutation compiles without schemas.
func checkMutation(t *testing.T, p *v1.MutatingAdmissionPolicy, described schemas, want []string) {
	t.Helper()
	composition := expression.Default().Compose()
	in := expression.Declarations{Params: p.Spec.ParamKind != nil, Authorizer: true}
	for _, v := range p.Spec.Variables {
		if _, err := composition.Declare(v.Name, v.Expression, in, environment.StoredExpressions); err != nil {
			t.Fatal(err)
		}
	}
	in.Patches = true
	if _, err := composition.Compile(*p.Spec.Mutations[0].Expression, in, environment.StoredExpressions, cel.AnyType); err != nil &&
		!slices.ContainsFunc(want, func(text string) bool { return strings.Contains(err.Detail, text) }) {
		t.Errorf("does not compile: %v", err)
	}
	result := checker(t, mapperFor(deployment, widget), described).CheckMutating(p)
	if len(result.Types) != 1 {
		t.Fatalf("checked %v, but not %v", result.Types, result.Unchecked)
	}
	var text string
	for _, f := range result.Findings {
		text += f.Message
	}
	if got := strings.Count(text, "ERROR: "); got != len(want) {
		t.Errorf("found %d errors, want %d:\n%s", got, len(want), text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("did not find %q in\n%s", w, text)
		}
	}
}
