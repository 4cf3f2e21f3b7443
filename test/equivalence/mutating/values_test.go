// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"
	"testing"
)

// values are expressions of every type, including values that JSON cannot represent.
var values = []string{
	// Scalars.
	"1", "-1", "9007199254740993", "1u", "18446744073709551615u", "0.5", "1e300", "1.0 / 0.0", "0.0 / 0.0", "true", "'x'", "b'x'", "b'\\xff'", "null", "'\\u0000'", "'<&>'",
	// Lists and maps.
	"[]", "{}", "[1, 2]", "['a', 'b']", "dyn([1, 'a', null])", "[[1], [2]]", "[{'a': 1}]", "{'a': 'b'}", "{'a': {'b': 1}}", "{'a': [1]}", "{'a': null}",
	"{1: 2}", "{true: 1}", "{1u: 2}", "dyn({'a': 1, 2: 'b'})", "{'a': {1: 2}}", "[{1: 2}]", "[1] + [2]", "['a'] + ['b', 'c']", "[[1]] + [[2]]", "[{1: 2}] + [{3: 4}]", "'a,b'.split(',')", "['b', 'a'].sort()", "{'a': 'a,b'.split(',')}",
	"[1, 2].map(x, x * 2)", "{'a': 1}.map(k, k)", "[1].transformMap(i, v, v)", "{'a': 1}.transformMapEntry(k, v, {v: k})", "'abab'.findAll('a')",
	// Types of libraries.
	"ip('1.2.3.4')", "cidr('10.0.0.0/8')", "semver('1.2.3')", "quantity('1Gi')", "url('http://h/p')", "format.dns1123Label()", "format.named('uuid')", "authorizer", "authorizer.requestResource", "authorizer.group('apps').resource('deployments').check('get')",
	"optional.of(1)", "optional.of({'a': 'b'})", "optional.none()", "type(1)", "type(ip('1.2.3.4'))", "int", "duration('1h')", "timestamp('2026-01-02T03:04:05.678Z')",
	"[ip('1.2.3.4')]", "{'a': cidr('10.0.0.0/8')}", "{'a': semver('1.2.3')}", "[quantity('1')]", "{'a': url('http://h/p')}", "[format.dns1123Label()]", "{'a': optional.of(1)}", "[optional.of('a')]", "{'a': type(1)}", "[duration('1h')]", "{'a': timestamp('2026-01-02T03:04:05Z')}", "[authorizer]",
	"[[ip('1.2.3.4')]]", "{'a': [ip('1.2.3.4')]}", "{'a': b'x'}", "[1u]", "{'a': 1u}",
	// Objects.
	"Object{}", "Object{a: 1}", "Object{a: dyn({1: 2})}", "Object{a: {'b': {1: 2}}}", "Object{a: [1, 2]}", "Object{a: Object.a{b: 1}}", "Object{a: Object.b{}}", "Object{a: ip('1.2.3.4')}", "Object{a: b'x'}", "Object{a: 1u}", "Object{a: null}", "Object{a: [null]}", "Object{a: 1.0 / 0.0}",
	"Object{a: type(1)}", "Object{a: optional.of(1)}", "Object{?a: optional.none()}", "Object{a: duration('1s')}", "Object{a: timestamp('2026-01-02T03:04:05Z')}", "[Object{a: 1}]", "{'a': Object{b: {1: 2}}}", "[Object{}] + [Object{a: 1}]", "JSONPatch{op: 'add'}", "[JSONPatch{op: 'add'}]", "Object{a: JSONPatch{op: 'add'}}",
	// Parts of the request's object.
	"object.metadata.name", "object.metadata.labels", "object.spec", "[object.metadata.labels]", "{'a': object.metadata.labels}", "[object.metadata]", "object.metadata.?finalizers.orValue([])", "oldObject", "[oldObject]", "object.?spec.parts", "object.metadata.?annotations",
}

// setters map places in a widget, a pod or a deployment to specs that write a value there.
var setters = map[string]func(value string) spec{
	"free field": func(v string) spec { return applying("Object{spec: Object.spec{free: " + v + "}}") },
	"in a map":   func(v string) spec { return applying("Object{spec: Object.spec{free: {'b': " + v + "}}}") },
	"in a list":  func(v string) spec { return applying("Object{spec: Object.spec{free: {'b': [" + v + "]}}}") },
	"in an object": func(v string) spec {
		return applying("Object{spec: Object.spec{free: Object.spec.free{b: " + v + "}}}")
	},
	"labels": func(v string) spec { return applying("Object{metadata: Object.metadata{labels: " + v + "}}") },
	"label":  func(v string) spec { return applying(labelled("v", v)) },
	"set":    func(v string) spec { return applying("Object{metadata: Object.metadata{finalizers: " + v + "}}") },
	"element of a set": func(v string) spec {
		return applying("Object{metadata: Object.metadata{finalizers: dyn([" + v + "])}}")
	},
	"spec": func(v string) spec { return applying("Object{spec: " + v + "}") },
	"patch": func(v string) spec {
		return patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: " + v + "}]")
	},
	"patch of spec": func(v string) spec { return patching("[JSONPatch{op: 'add', path: '/spec/free', value: " + v + "}]") },
	"test of a part": func(v string) spec {
		return patching("[JSONPatch{op: 'test', path: '/metadata/labels', value: "+v+"}]", `[JSONPatch{op: "add", path: "/metadata/labels/new", value: "yes"}]`)
	},
}

// TestValues writes every value to every place. The policies of one place share a cluster and
// select objects by label.
func TestValues(t *testing.T) {
	changed, refused := 0, 0
	for place, set := range setters {
		t.Run(strings.ReplaceAll(place, " ", "_"), func(t *testing.T) {
			var s scenario
			requests := map[string]request{}
			for i, value := range values {
				name, number := fmt.Sprintf("p%03d.example.com", i), fmt.Sprint(i)
				s.Policies = append(s.Policies, policyOf(name, with(set(value), matched(ofObjects("value", number)))))
				s.Bindings = append(s.Bindings, bindingOf(name, name))
				for _, on := range []string{"create widget", "create pod", "update"} {
					requests[on+" with "+value] = withLabel(fixed[on], "value", number)
				}
			}
			got := compareIn(t, s, requests)
			if got.Unexplained != nil {
				t.Error(got)
			}
			for name, o := range got.outcomes {
				refused += min(1, len(o.last().Error))
				if o.last().Object != encode(t, requests[name], requests[name].Object) {
					changed++
				}
			}
		})
	}
	if total := len(setters) * len(values) * 3; changed*10 < total || refused*4 < total {
		t.Errorf("of %d outcomes %d are changes and %d are refusals", total, changed, refused)
	}
}
