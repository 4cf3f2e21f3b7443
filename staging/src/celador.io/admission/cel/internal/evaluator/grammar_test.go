// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"regexp"
	"slices"
	"strings"
)

// grammar holds the templates of expressions by the sort of their values: b for a bool, i for an
// int, n for any number, t for a string, l for a list of ints, w for a list of strings, o for a
// list of objects, e for an object, m for a map, and d for any value. In a template, {b} stands for
// an expression of sort b, and {b x:i} for an expression that also may read x, an int. Maps have at
// most one entry, because the order of several is random. Some values have another type than their
// sort, to cover errors at run time.
var grammar = map[byte]struct{ simple, composed []string }{
	'b': {
		simple: []string{
			"true", "false", "b", "has(object.spec)", "has(object.metadata.missing)", "has(oldObject.spec.replicas)", "object.missing",
			"object == null", "request.dryRun", "variables.broken", "any.map.yes", "dyn(b)", "dyn(1)",
		},
		composed: []string{
			"({b} && {b})", "({b} || {b})", "(({b} && {b}) || {b})", "!({b})", "({b} ? {b} : {b})", "(({b} ? {d} : {d}) == {d})",
			"({d} == {d})", "({d} != {d})", "({n} < {n})", "({n} >= {n})", "({i} <= {i})", "({t} > {t})", "({t} == {t})", "({i} == {i})",
			"({l} == {l})", "({b} == {b})", "({m} == {m})", "({d} < {d})",
			"{n} in [dyn(1), dyn(2u), dyn(3.0), dyn('a')]", "({i} in [1, 2, 3])", "({t} in ['web', 'app', ''])", "!({t} in ['web'])",
			"(({i} in [1, -7, 3]) == {b})", "({i} in {l})", "({t} in {w})", "({t} in {m})", "({d} in {d})", "({d} in [b'x'])", "({b} in [true])",
			"({i} in [])",
			"{t}.startsWith({t})", "{t}.endsWith('b')", "{t}.contains({t})", "{t}.matches('^[a-zé]*$')", "{t}.matches({t})",
			"{l}.all(x, {b x:i})", "{l}.exists(x, {b x:i})", "{l}.exists_one(x, {b x:i})", "{w}.all(x, {b x:t})", "{w}.exists(y, {b y:t})",
			"{o}.all(e, {b e:e})", "{o}.exists(e, {b e:e})", "{m}.all(k, {b k:t})", "{m}.exists(k, {b k:t})", "dyn({d}).all(x, {b x:d})",
			"dyn({d}).exists(y, {b y:d})",
			"cel.bind(x, {i}, {b x:i})", "cel.bind(y, {l}, {b y:l})", "cel.bind(z, {d}, {b z:d})",
			"has({e}.name)", "has(dyn({d}).web)", "has({e}.resources.limits)", "(has({e}.name) ? {b} : {b})", "(({b} ? {e} : {e}).name == {t})",
			"(({b} ? {e} : {e}).name in ['web'])",
			"object.?spec.?replicas.hasValue()", "(type({d}) == type({d}))", "(type({d}) == int)", "{l}.all(p, x, {b x:i})",
			"{l}.exists(p, x, {b p:i})", "{l}.existsOne(p, x, {b x:i})", "{m}.all(k, x, {b x:t})", "{m}.exists(k, x, {b k:t})", "dyn({d}).all(p, x, {b x:d})",
			"{l}.all(i, {b i:i})", "{w}.exists(s, {b s:t})", "{o}.all(object, {b object:e})", "{w}.all(variables, {b variables:t})", "{l}.exists(any, {b any:i})",
			"{o}.all(object, {o}.exists(variables, {b variables:e}) || {b object:e})",
			"sets.contains({l}, {l})", "sets.equivalent({l}, {l})", "sets.intersects({l}, {l})", "isURL({t})", "isIP({t})", "isCIDR({t})", "isQuantity({t})", "isSemver({t})",
			"quantity({t}).isGreaterThan(quantity('1k'))", "ip({t}).isLoopback()", "cidr('10.0.0.0/8').containsIP({t})", "(semver({t}).major() == {i})",
			"format.dns1123Label().validate({t}).hasValue()", "{l}.isSorted()", "optional.of({d}).hasValue()", "{l}[?{i}].hasValue()", "dyn({d}).?web.hasValue()",
			"authorizer.group({t}).resource('pods').check({t}).allowed()", "authorizer.requestResource.check({t}).errored()", "authorizer.path('/{').check('get').allowed()",
		},
	},
	'i': {
		simple: []string{
			"0", "1", "3", "-7", "i", "j", "variables.number", "object.spec.replicas", "oldObject.spec.replicas", "ints[0]", "any.number",
			"scores.web", "scores['web']", "lists[0][1]", "int('3')", "int(2.9)", "9223372036854775807",
		},
		composed: []string{
			"({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} / {i})", "({i} % {i})", "-({i})", "size({t})", "size({l})", "dyn({d}).size()",
			"size({m})", "({b} ? {i} : {i})", "int({n})", "{l}[0]", "{l}[i]", "{l}[({b} ? 0 : 1)]", "{l}[lists[0][0]]", "{l}[{i}]",
			"{l}.map(x, {i x:i})[0]", "({b} ? {l} : {l})[1]", "{l}.sum()", "{l}.max()", "cel.bind(x, {i}, {i x:i})", "[{i}, {i}][scores.web]",
			"[1, 2, 3][0]", "{'a': {i}}.a", "{'a': {i}}[{t}]", "{t}.indexOf({t})", "({b} ? scores : scores).web", "({b} ? {'a': {i}} : {'a': {i}}).a",
			"object.?spec.?replicas.orValue({i})",
			"{l}[variables.number]", "{l}[({i} % 3)]", "{l}[{l}[{i}]]", "lists[{i}][{i}]", "lists[variables.any][variables.number]", "{l}.indexOf({i})", "{l}.min()", "{l}[?{i}].orValue({i})",
			"{l}.transformList(p, x, {i x:i})[0]", "sets.contains({l}, {l}) ? {i} : {i}", "{l}.first().orValue({i})", "quantity({t}).asInteger()", "semver('1.2.3').compareTo(semver({t}))", "cidr('10.0.0.0/8').prefixLength()",
			"anyMap[{t}]", "scores[{t}]", "scores[variables.text]", "[{i}, {i}][variables.broken ? 0 : 1]", "duration('90s').getSeconds()", "moment.getFullYear()",
		},
	},
	'n': {
		simple:   []string{"dyn(1)", "dyn(2u)", "dyn(1.5)", "dyn(i)", "dyn(u)", "dyn(d)", "variables.any", "any.number"},
		composed: []string{"dyn({i})", "dyn(double({i}))", "dyn(uint({i}))", "({n} + {n})", "({n} * {n})", "({b} ? {n} : {n})", "any.floats[{i}]", "({n} / {n})", "dyn(-{n})"},
	},
	't': {
		simple: []string{
			"''", "'web'", "'wéb'", "'a'", "s", "t", "variables.text", "object.metadata.name", "oldObject.metadata.labels.app",
			"object.metadata.labels['app']", "request.name", "request.operation", "namespaceObject.metadata.name", "texts[0]", "any.text",
			"any['text']", "labels.app", "object.kind", "string(1)", "object.metadata.missing", "params.data.most",
		},
		composed: []string{
			"({t} + {t})", "string({i})", "string({n})", "({b} ? {t} : {t})", "{t}.upperAscii()", "{t}.replace('w', {t})", "{t}.substring(size({t}))",
			"{w}.join(',')", "{w}[0]", "'%s-%d'.format([dyn({t}), dyn({i})])", "{e}.name", "{e}.image", "({b} ? {e} : {e}).image",
			"{o}.map(e, {t e:e})[0]", "{m}[{t}]", "{m}[variables.text]", "{t}.charAt(0)", "cel.bind(x, {t}, {t x:t})", "{t}.trim()",
			"{w}[variables.number]", "{w}[{i}]", "{m}[{m}[{t}]]", "byInt[{i}]", "byInt[variables.number]", "anys[variables.number]", "any[variables.text]", "any[{t}]", "{t}.find('[a-z]+')", "{t}.find({t})",
			"url({t}).getHost()", "string(ip({t}))", "{t}.lastIndexOf('b') == 0 ? {t} : {t}", "{m}.transformMap(k, x, {t x:t})[{t}]", "authorizer.group('').resource('pods').check({t}).reason()",
			"{m}[?{t}].orValue({t})", "{w}.transformList(p, x, {t x:t})[0]", "type({d}) == string ? {t} : {t}", "{w}.last().orValue({t})",
		},
	},
	'l': {
		simple: []string{"[1]", "[1, 2, 3]", "ints", "lists[0]", "lists[1]", "any.empty", "[i, j]", "[]"},
		composed: []string{
			"[{i}]", "[{i}, {i}]", "({l} + {l})", "{l}.map(x, {i x:i})", "{l}.filter(x, {b x:i})", "{l}.map(y, {b y:i}, {i y:i})",
			"{w}.map(x, {i x:t})", "{o}.map(e, {i e:e})", "({b} ? {l} : {l})", "lists.map(z, {i z:l})", "lists[{i}]", "cel.bind(x, {l}, {l x:l})",
			"cel.bind(y, [], {l y:l})", "cel.bind(x, dyn([]), ({l x:l} + {l x:l}))", "{m}.map(k, {i k:t})", "[{l}, {l}][0]",
			"{l}.transformList(p, x, {i p:i})", "{l}.transformList(p, x, {b x:i}, {i x:i})", "{l}.slice(0, 1)", "{l}.reverse()", "{l}.distinct()", "{l}.sort()", "lists.range({i} % 5)", "[{l}, {l}].flatten()",
			"{l}.map(i, {i i:i})", "{l}.filter(variables, {b variables:i})", "lists[variables.number]", "[{l}, {l}][{i}]", "{l}.sortBy(x, {i x:i})",
		},
	},
	'w': {
		simple: []string{"['web', 'db']", "texts", "any.list", "object.spec.template.spec.containers[0].args", "dyn([])"},
		composed: []string{
			"[{t}]", "[dyn({t}), dyn({t})]", "({w} + {w})", "{w}.map(x, {t x:t})", "{w}.filter(x, {b x:t})", "{o}.map(e, {b e:e}, {t e:e})",
			"{l}.map(x, {t x:i})", "({b} ? {w} : {w})", "{t}.split({t})", "{m}.filter(k, {b k:t})",
			"{t}.findAll('[a-z]')", "{w}.map(variables, {t variables:t})", "{w}.sort()", "[{w}, {w}][{i}]",
		},
	},
	'o': {
		simple: []string{
			"object.spec.template.spec.containers", "oldObject.spec.template.spec.containers", "variables.containers", "[object.metadata]",
			"[dyn({'name': 'web'})]",
		},
		composed: []string{"{o}.filter(e, {b e:e})", "[{e}, {e}]", "({b} ? {o} : {o})", "({o} + {o})", "{o}.map(e, {e e:e})", "[dyn({'name': {t}})]"},
	},
	'e': {
		simple:   []string{"object.spec.template.spec.containers[0]", "object.metadata", "variables.containers[1]", "dyn({'name': 'web'})"},
		composed: []string{"{o}[0]", "{o}[i]", "({b} ? {e} : {e})", "dyn({'name': {t}})", "dyn({e})"},
	},
	'm': {
		simple:   []string{"labels", "object.metadata.labels", "any.map", "any.none", "object.metadata.annotations", "dyn({'web': 'x'})", "{}"},
		composed: []string{"dyn({{t}: {t}})", "({b} ? {m} : {m})", "cel.bind(x, {m}, {m x:m})", "cel.bind(y, {}, {m y:m})", "{m}.transformMap(k, x, {t k:t})", "{m}.transformMapEntry(k, x, {dyn({t x:t}): {t k:t}})", "{l}.transformMapEntry(p, x, {string(p): {t x:i}})"},
	},
	'd': {
		simple: []string{
			"any", "object", "object.spec", "any.nil", "anys[0]", "anys", "anyMap", "any.uints", "dyn(span)", "dyn(moment)", "dyn(b'x')", "dyn(1)",
			"dyn('web')", "dyn([dyn(1), dyn('a')])", "dyn(quantity('1k'))", "dyn(maybe)", "params", "dyn(null)",
		},
		composed: []string{
			"dyn({b})", "dyn({i})", "dyn({n})", "dyn({t})", "dyn({l})", "dyn({m})", "dyn({e})", "({b} ? dyn({i}) : dyn({t}))", "[dyn({d})]",
			"[dyn({d}), dyn({d})][0]", "{'k': {d}}", "dyn({d})", "{e}.missing", "dyn({d}).filter(x, {b x:d})", "dyn({d}).map(x, {d x:d})",
			"cel.bind(x, {d}, {d x:d})", "dyn({d})[{d}]", "dyn({o})",
			"dyn({d})[variables.number]", "dyn({d})[variables.text]", "dyn({d})[variables.any]", "dyn({d})[variables.broken]", "dyn({d})[{d}][{d}]", "dyn({d})[{i} + {i}]", "variables.any[variables.number]", "variables.broken ? {d} : {d}",
			"anys[{i}]", "[dyn({d})].filter(variables, {b variables:d})", "optional.of({d}).orValue(dyn({d}))", "dyn({d}).?web.orValue(dyn({i}))", "dyn({d})[?{d}].orValue({d})",
			"has(dyn({d}).web) ? dyn({d}).web : {d}", "{o}[variables.number].name", "dyn({d}).transformList(p, x, {d x:d})",
		},
	},
}

// A generator derives an expression from bytes, each of which chooses one alternative. After the
// last byte, it always chooses the first alternative.
type generator struct {
	choices []byte
	// locals holds the comprehension variables in scope, by sort.
	locals map[byte][]string
	// remaining is the number of composed templates that the expression may still use.
	remaining int
}

// generate returns an expression of any sort.
func generate(choices []byte) string {
	g := &generator{choices: choices, locals: map[byte][]string{}}
	g.remaining = pick(g, []int{3, 6, 12, 25, 50})
	return g.expression(pick(g, []byte("bbbbbitlwmd")), 6)
}

func pick[T any](g *generator, from []T) T {
	if len(g.choices) == 0 {
		return from[0]
	}
	choice := int(g.choices[0])
	g.choices = g.choices[1:]
	return from[choice%len(from)]
}

func (g *generator) expression(sort byte, depth int) string {
	g.remaining--
	templates := grammar[sort].composed
	if depth <= 0 || g.remaining <= 0 || pick(g, []int{0, 1, 1, 1}) == 0 {
		templates = grammar[sort].simple
		if locals := g.locals[sort]; len(locals) > 0 && pick(g, []int{0, 1, 1}) != 0 {
			templates = locals
		}
	}
	return g.fill(pick(g, templates), depth-1)
}

// placeholder matches {b} and {b x:i} at the beginning of a text.
var placeholder = regexp.MustCompile(`^\{([bintlwoemd])(?: (\w+):([bintlwoemd]))?\}`)

// fill replaces the placeholders of a template.
func (g *generator) fill(template string, depth int) string {
	var result strings.Builder
	for rest := template; rest != ""; {
		start := strings.IndexByte(rest, '{')
		if start < 0 {
			result.WriteString(rest)
			break
		}
		result.WriteString(rest[:start])
		rest = rest[start:]
		found := placeholder.FindStringSubmatch(rest)
		if found == nil {
			result.WriteByte('{')
			rest = rest[1:]
			continue
		}
		rest = rest[len(found[0]):]
		sort, local := found[1][0], found[2]
		if local == "" {
			result.WriteString(g.expression(sort, depth))
			continue
		}
		localSort := found[3][0]
		outer := g.locals[localSort]
		g.locals[localSort] = append(slices.Clip(outer), local)
		result.WriteString(g.expression(sort, depth))
		g.locals[localSort] = outer
	}
	return result.String()
}
