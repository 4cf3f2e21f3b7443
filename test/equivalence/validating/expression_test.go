// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/equivalence/harness"
)

// scope holds the names that the expressions of a policy may read.
type scope struct {
	// params is nil if the policy has no paramKind.
	params *v1.ParamKind
	// variables are expressions that read a variable of the policy or of an enclosing loop, by the
	// type of their value.
	variables map[byte][]string
}

// with returns the scope with an additional variable.
func (s scope) with(sort byte, reads ...string) scope {
	extended := maps.Clone(s.variables)
	if extended == nil {
		extended = map[byte][]string{}
	}
	extended[sort] = slices.Concat(extended[sort], reads)
	return scope{s.params, extended}
}

// grammar maps types to templates of expressions. In a template, {b}, {i}, {t} and {l} stand for
// a bool, an int, a string, and a list or map, and {b x:t} for a bool that may read the string x.
// Some values have the wrong type. Maps have a single entry, because their order is random.
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
			"{l}.all(x, {b x:t})", "{l}.exists(x, {b x:i})", "{l}.exists_one(x, {b x:t})", "{l}.all(k, x, {b x:t})", "{l}.exists(k, x, {b k:i})", "{l}.existsOne(k, x, {b x:t})",
			"{l}.all(x, {l}.exists(x, {b x:t}) || {b x:t})", "{l}.all(object, {b object:t})", "{l}.exists(variables, {b variables:i})",
			"{t} in {l}", "{i} in {l}", "has(object.metadata.labels[{t}].x)", "{l}[{i}] == {t}", "{l}[{l}[{i}]] == {t}", "({b} ? {l} : {l})[{i}] == {i}", "object.spec[{t}] == {i}", "{l}[?{i}].hasValue()",
			"sets.contains({l}, {l})", "sets.equivalent({l}, {l})", "sets.intersects({l}, {l})", "isURL({t})", "isIP({t})", "isCIDR({t})", "isQuantity({t})", "isSemver({t})", "ip({t}).isLoopback()",
			"cidr('10.0.0.0/8').containsIP({t})", "quantity({t}).isLessThan(quantity('3'))", "semver({t}).isGreaterThan(semver('1.0.0'))", "format.dns1123Label().validate({t}).hasValue()", "{l}.isSorted()",
			"authorizer.group({t}).resource('pods').check({t}).allowed()", "authorizer.path('/healthz').check({t}).allowed()", "authorizer.serviceAccount('blue', {t}).group('').resource('pods').check('get').errored()",
			"optional.of({t}).hasValue()", "optional.ofNonZeroValue({i}).hasValue()", "type({t}) == string", "null in {l}", "[{i}] == {l}", "{{t}: {i}} == {{t}: {i}}", "{l} == {l}", "{l}[{t}] == null", "0.5 < {i}",
		},
		ofParams: []string{
			"params == null", "params != null", "has(params.metadata.labels)", "params.kind == 'ConfigMap'", "params.apiVersion == 'v1'", "params.metadata.name == 'a'", "params.metadata.namespace == request.namespace",
			"has(params.data) && object.spec.replicas <= int(params.data.most)", "has(params.spec) && object.spec.replicas <= params.spec.most", "object.spec.replicas <= params.spec.most", "params == params", "params.metadata.uid != ''",
			"params.spec.ratio < 1", "params.spec.ratio == 0.5", "params.spec.nothing == null", "has(params.spec.nothing)", "params.spec.nothing.missing", "params.spec.ratio == params.spec.most", "params.spec['nothing'] in [null]",
			"params.spec.missing[params.spec.most]", "type(params.spec.ratio) == double", "[0.5, null].exists(x, x == params.spec.ratio)",
		},
	},
	'i': {
		simple: []string{
			"0", "3", "7", "object.spec.replicas", "oldObject.spec.replicas", "object.?spec.?replicas.orValue(0)", "object.?spec.?size.orValue(1)", "int('3')", "int(object.metadata.name)",
			"object.metadata.labels.size()", "request.userInfo.groups.size()", "quantity('2k').asInteger()",
		},
		composed: []string{"({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} / {i})", "({i} % {i})", "size({t})", "size({l})", "({b} ? {i} : {i})", "int(string({i}))",
			"{l}[{i}]", "{l}[{t}]", "{l}[{i} - {i}]", "{l}[size({t}) % 2]", "[{i}, {i}][{i}]", "{{t}: {i}}[{t}]", "{l}.indexOf({t})", "{l}.sum()", "{l}.max()", "{l}.map(x, {i x:i})[{i}]", "{l}.transformList(k, x, {i k:i})[0]",
			"size({l}.transformMap(k, x, {t x:t}))", "size({l}.transformMapEntry(k, x, {string(k): {t x:t}}))", "{l}[?{i}].orValue({i})", "{l}.first().orValue({i})", "size({l}.distinct())", "size({l}.flatten())", "size({l}.slice(0, 1))",
			"quantity({t}).asInteger()", "semver({t}).major()", "cidr({t}).prefixLength()", "{t}.indexOf({t})", "duration('90s').getSeconds()", "timestamp(object.metadata.name).getFullYear()", "-({i})", "int({i} * 1.5)",
		},
		ofParams: []string{"int(params.data.most)", "params.spec.most", "params.?spec.?most.orValue(5)", "size(params.metadata.labels)", "int(params.spec.ratio)", "params.spec.ratio", "params.spec.nothing"},
	},
	't': {
		simple: []string{
			"'web'", "''", "'shop'", "' '", "'a\\nb'", "object.metadata.name", "oldObject.metadata.name", "request.name", "request.namespace", "request.operation", "request.userInfo.username",
			"namespaceObject.metadata.name", "namespaceObject.metadata.labels.name", "object.kind", "object.apiVersion", "object.?metadata.?labels.?app.orValue('none')", "request.options.?fieldManager.orValue('')",
			"request.kind.kind", "request.requestResource.group", "object.metadata.missing",
		},
		composed: []string{"({t} + {t})", "string({t})", "string({i})", "string({b})", "({b} ? {t} : {t})", "{t}.upperAscii()", "{t}.replace('e', 'é')", "' %s '.format([{t}])", "{l}.join(', ')",
			"{l}[{i}]", "{l}[{t}]", "{l}[{l}[{i}]]", "({b} ? {l} : {l})[{i}]", "object.spec.template.spec.containers[{i}].name", "request.userInfo.groups[{i}]", "object.metadata.labels[{t}]", "object.metadata[{t}]", "{{t}: {t}}[{t}]",
			"{l}.map(x, {t x:t})[{i}]", "{l}.map(object, {t object:t})[0]", "{l}.filter(x, {b x:t})[0]", "{l}.transformList(k, x, {b k:i}, {t x:t})[0]", "{l}.transformMap(k, x, {t x:t})[{i}]", "{l}[?{t}].orValue({t})", "{l}.last().orValue({t})",
			"{t}.find('[a-z]+')", "{t}.findAll('[a-z]')[{i}]", "url({t}).getHost()", "string(ip({t}))", "string(cidr({t}).masked())", "{t}.split('e')[{i}]", "{t}.substring({i})", "{t}.charAt({i})", "{t}.trim()", "{t}.lowerAscii()",
			"authorizer.group('').resource({t}).check('read').reason()", "authorizer.requestResource.check({t}).error()", "format.named({t}).value().validate({t}).value()[0]", "'%d'.format([{i}])", "'%s'.format([{l}])",
		},
		ofParams: []string{"params.metadata.name", "params.metadata.namespace", "params.data.most", "params.kind", "params.metadata.labels['set']", "string(params.spec.ratio)", "params.spec.nothing", "'%s'.format([params.spec.nothing])"},
	},
	'l': {
		simple: []string{
			"['a', 'b']", "request.userInfo.groups", "object.metadata.labels", "object.spec.template.spec.containers.map(c, c.name)", "object.spec.parts", "[]", "namespaceObject.metadata.annotations",
		},
		composed: []string{"[{t}, {t}]", "[{i}]", "{l}.filter(x, {b})", "{l}.map(x, {t})", "{l}.filter(x, {b x:t})", "{l}.map(x, {t x:t})", "{l}.map(x, {b x:i}, {i x:i})",
			"{l}.map(x, {l}.map(x, {i x:i}))", "{l}.transformList(k, x, {t x:t})", "{l}.transformList(k, x, {b k:i}, {i x:i})", "{{t}: {t}}", "{{t}: {i}}", "[{l}, {l}][{i}]", "({b} ? {l} : {l})", "({l} + {l})", "{l}.reverse()", "{l}.sort()",
			"{l}.sortBy(x, {t x:t})", "lists.range({i} % 4)", "{t}.split('e')", "{t}.findAll('[a-z]')", "[null, {i}]", "[dyn({i}), dyn({t})]",
		},
		ofParams: []string{"params.spec.prefixes", "params.metadata.labels", "params.data", "[params.spec.ratio, params.spec.nothing]"},
	},
}

// expression generates an expression of a type with nested operators.
func (g *generator) expression(sort byte, depth int) string {
	templates := grammar[sort]
	choices := templates.composed
	if depth <= 0 {
		choices = slices.Concat(templates.simple, g.scope.variables[sort])
		if g.scope.params != nil {
			choices = slices.Concat(choices, templates.ofParams, templates.ofParams)
		}
	}
	template := harness.Pick(g, choices...)
	var result strings.Builder
	for {
		found := hole.FindStringSubmatchIndex(template)
		if found == nil {
			return result.String() + template
		}
		result.WriteString(template[:found[0]])
		sort, outer := template[found[2]], g.scope
		if found[4] >= 0 {
			name := template[found[4]:found[5]]
			g.scope = outer.with(template[found[6]], name, "dyn("+name+")")
		}
		result.WriteString(g.expression(sort, depth-1))
		g.scope, template = outer, template[found[1]:]
	}
}

// hole matches {b} and {b x:t} in a template.
var hole = regexp.MustCompile(`\{([bitl])(?: (\w+):([bitl]))?\}`)

// declare generates a variable and returns its expression.
func (g *generator) declare(name string) string {
	sort := harness.Pick(g, byte('b'), 'i', 't', 'l')
	expression := g.expression(sort, g.IntN(2))
	g.scope = g.scope.with(sort, "variables."+name, "variables."+name)
	return expression
}
