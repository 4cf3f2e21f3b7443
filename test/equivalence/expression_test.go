// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
)

// scope is what the expressions of a policy may read.
type scope struct {
	// params is nil when there are none.
	params *v1.ParamKind
	// variables are expressions that read one, by the sort of its value.
	variables map[byte][]string
}

// grammar has templates of expressions by the sort of their values. In a template, {b},
// {i}, {t} and {l} stand for a bool, an int, a string, and a list or map. Not all values
// are what they should be. Maps have one entry, as the order of several is random.
var grammar = map[byte]struct{ simple, composed, ofParams []string }{
	'b': {
		simple: []string{
			"true", "false", "object == null", "oldObject != null", "namespaceObject != null", "request.dryRun", "object == oldObject", "object.spec == oldObject.spec",
			"object.spec.replicas <= 5", "object.spec.replicas > oldObject.spec.replicas", "{i} <= {i}", "{i} > {i}", "{i} == {i}", "{i} != {i}", "{t} == {t}", "{t}.startsWith('w')", "{t}.matches('^[a-z]+$')",
			"has(object.spec)", "has(oldObject.spec.replicas)", "has(object.spec.size)", "has(object.metadata.labels) && 'app' in object.metadata.labels", "'developers' in request.userInfo.groups",
			"request.operation == 'CREATE'", "request.operation == 'UPDATE'", "request.operation != 'DELETE'", "request.resource.resource == 'deployments'", "request.requestKind.version == 'v1'", "has(request.subResource)",
			"object.spec.template.spec.containers.all(c, c.image.contains('example.com'))", "object.metadata.labels.exists(k, object.metadata.labels[k] == {t})", "quantity('1Gi').isGreaterThan(quantity('1M'))",
			"authorizer.requestResource.check('read').allowed()", "authorizer.requestResource.check('write').allowed()", "authorizer.requestResource.check('fail').errored()", "authorizer.group('apps').resource('deployments').check('get').reason() == 'you may read'",
			"object.missing", "object.spec.missing.field == 1", "object.spec.replicas", "object.spec.replicas <", "params", "variables.nothing",
		},
		composed: []string{
			"{b} && {b}", "{b} || {b}", "!({b})", "({b}) == ({b})", "({b}) ? ({b}) : ({b})", "{l}.all(x, {b})", "{l}.exists(x, x == {t} || {b})", "{i} == ({i})", "{i} <= {i}", "{i} > {i}", "{t} == ({t})", "{t} in ['web', {t}]",
		},
		ofParams: []string{
			"params == null", "params != null", "has(params.metadata.labels)", "params.kind == 'ConfigMap'", "params.apiVersion == 'v1'", "params.metadata.name == 'a'", "params.metadata.namespace == request.namespace",
			"has(params.data) && object.spec.replicas <= int(params.data.most)", "has(params.spec) && object.spec.replicas <= params.spec.most", "object.spec.replicas <= params.spec.most", "params == params", "params.metadata.uid != ''",
		},
	},
	'i': {
		simple: []string{
			"0", "3", "7", "object.spec.replicas", "oldObject.spec.replicas", "object.?spec.?replicas.orValue(0)", "object.?spec.?size.orValue(1)", "int('3')", "int(object.metadata.name)",
			"object.metadata.labels.size()", "request.userInfo.groups.size()", "quantity('2k').asInteger()",
		},
		composed: []string{"({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} / {i})", "({i} % {i})", "size({t})", "size({l})", "({b} ? {i} : {i})", "int(string({i}))"},
		ofParams: []string{"int(params.data.most)", "params.spec.most", "params.?spec.?most.orValue(5)", "size(params.metadata.labels)"},
	},
	't': {
		simple: []string{
			"'web'", "''", "'shop'", "' '", "'a\\nb'", "object.metadata.name", "oldObject.metadata.name", "request.name", "request.namespace", "request.operation", "request.userInfo.username",
			"namespaceObject.metadata.name", "namespaceObject.metadata.labels.name", "object.kind", "object.apiVersion", "object.?metadata.?labels.?app.orValue('none')", "request.options.?fieldManager.orValue('')",
			"request.kind.kind", "request.requestResource.group", "object.metadata.missing",
		},
		composed: []string{"({t} + {t})", "string({t})", "string({i})", "string({b})", "({b} ? {t} : {t})", "{t}.upperAscii()", "{t}.replace('e', 'é')", "' %s '.format([{t}])", "{l}.join(', ')"},
		ofParams: []string{"params.metadata.name", "params.metadata.namespace", "params.data.most", "params.kind", "params.metadata.labels['set']"},
	},
	'l': {
		simple: []string{
			"['a', 'b']", "request.userInfo.groups", "object.metadata.labels", "object.spec.template.spec.containers.map(c, c.name)", "object.spec.parts", "[]", "namespaceObject.metadata.annotations",
		},
		composed: []string{"[{t}, {t}]", "[{i}]", "{l}.filter(x, {b})", "{l}.map(x, {t})"},
		ofParams: []string{"params.spec.prefixes", "params.metadata.labels", "params.data"},
	},
}

// expression makes up an expression of a sort, with so many levels of operators.
func (g *generator) expression(sort byte, depth int) string {
	templates := grammar[sort]
	choices := templates.composed
	if depth <= 0 {
		choices = slices.Concat(templates.simple, g.scope.variables[sort])
		if g.scope.params != nil {
			choices = slices.Concat(choices, templates.ofParams, templates.ofParams)
		}
	}
	var result strings.Builder
	for rest := pick(g, choices...); rest != ""; {
		before, placeholder, found := strings.Cut(rest, "{")
		result.WriteString(before)
		if !found {
			break
		}
		result.WriteString(g.expression(placeholder[0], depth-1))
		rest = placeholder[len("b}"):]
	}
	return result.String()
}

// declare makes up a variable and returns its expression.
func (g *generator) declare(name string) string {
	sort := pick(g, byte('b'), 'i', 't', 'l')
	expression := g.expression(sort, g.IntN(2))
	if g.scope.variables == nil {
		g.scope.variables = map[byte][]string{}
	}
	g.scope.variables[sort] = append(g.scope.variables[sort], "variables."+name, "variables."+name)
	return expression
}
