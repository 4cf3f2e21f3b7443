// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

// The evaluations of a policy for several params share the values of expressions that do not read
// params. A policy must decide about many params as it does about each of them alone, whatever form
// its expressions have.
func TestParamsTogetherAndAlone(t *testing.T) {
	var items []*unstructured.Unstructured
	for i, fields := range []string{
		`"m":{"a":1,"b":2},"l":["a","a"],"s":"x"`, `"m":{"a":1,"z":2},"l":["a","b"],"s":"y"`, `"m":{"q":3,"z":4},"l":["b","a"],"s":"zz"`,
		`"m":{"a":1,"z":"t"},"l":["a",1],"s":""`, `"m":{"a":null,"z":{"a":1}},"l":[null,{"a":1}],"s":null`, `"m":{"a":"1","z":[1]},"l":[[1],[2,3]],"s":1`,
		`"m":{"a":"1","z":[1]},"l":[[1],[1]],"s":1.5`, `"m":[1,2],"l":{"a":1,"b":2},"s":true`, `"m":[2,2],"l":{"a":1,"c":2},"s":"2020-01-01T00:00:00Z"`,
		`"m":"ab","l":"cd"`, `"n":1`, `"m":{},"l":[]`, `"m":{"a":2,"b":2},"l":[1,2],"s":"x"`, `"m":{"a":2,"b":2},"l":[2,1],"s":"x"`, `"m":{"a__dot__b":2,"a.b":2},"l":[2.0,1],"s":"x"`,
	} {
		param := &unstructured.Unstructured{}
		if err := param.UnmarshalJSON([]byte(`{"apiVersion":"example.com/v1","kind":"Limit",` + fields + `}`)); err != nil {
			t.Fatal(err)
		}
		param.SetNamespace("blue")
		param.SetName(fmt.Sprintf("p%02d", i))
		items = append(items, param)
	}
	variables := []v1.Variable{
		{Name: "m", Expression: "params.m"}, {Name: "keys", Expression: "params.m.transformMap(k, v, k)"}, {Name: "d", Expression: "dyn(params.l).distinct()"},
		{Name: "all", Expression: "[params.m, params.l]"}, {Name: "params", Expression: "params.l"}, {Name: "n", Expression: "variables.m.size()"},
	}
	for _, expression := range []string{
		"params.m.all(k, v, k in ['a', 'b'])", "params.m.exists(k, v, k == 'z')", "params.m.existsOne(k, v, k == 'z')", "params.m.transformMap(k, v, k == 'z', 1).size() == 1",
		"params.m.transformMap(k, v, 1).a == 1", "params.m.transformMapEntry(k, v, {k: 1}) == {'a': 1, 'b': 1}", "sets.contains(['a', 'b'], params.m.transformList(k, v, k))",
		"params.l.all(i, x, params.m.all(k, v, k != 'a'))", "params.m.all(k, k in ['a', 'b'])", "params.l.all(i, x, i < 2)",
		"params.l.distinct().size() == 2", "size(dyn(params.l).distinct()) == 1", "dyn(params.l).sort().size() == 2", "params.l.reverse().size() == 2",
		"params.l.reverse().distinct().size() == 2", "params.l.slice(0, 2).distinct().size() == 2", "params.l.slice(0, 3).size() == 2", "params.l.sortBy(x, x).size() == 2",
		"params.l.first().hasValue()", "params.l.last().value() == 'a'", "params.l.flatten().size() == 2", "params.l.isSorted()", "lists.range(params.l.size()).size() == 2",
		"params.l.filter(x, x == 'a').size() == 2", "params.l.exists_one(x, x == 'a')",
		"has(params.m.a)", "params.m.a == null", "params.s == null || params.m != null", "optional.ofNonZeroValue(params.s).hasValue()", "optional.ofNonZeroValue(params.m).hasValue()",
		"params.?m.?a.hasValue()", "params.?m[?'a'].hasValue()", "params.m.?z.a.hasValue()", "params.?s.or(params.?l).hasValue()", "params.?m.optMap(x, x.size() == 2).orValue(false)",
		"[params.m, params.l].all(params, params.size() == 2)", "[params].map(x, x.m)[0].size() == 2", "{'a': params.m}.a.size() == 2", "[?params.?m.?a].size() == 1",
		"(object == null ? params.m : params.l).size() == 2", "type(params.m) == map", "dyn(params)['m'].size() == 2", "params[object.kind == '' ? 'm' : 'l'].size() == 2",
		"'a' in params.m", "params.s.size() == 1", "params.s.split('').size() == 1", "params.s.trim().size() == 2", "(params.l + ['x']).size() == 3", "params.m.a__dot__b == 2",
		"variables.m.size() == 2", "variables.keys.size() == 2 && 'a' in variables.keys", "dyn(variables).m.size() == 2", "variables['m'].size() == 2", "variables.d.size() == 1",
		"variables.all[0].size() == 2", "variables.params.size() == 2", "variables.n == 2", "[{'m': [1, 2]}].all(variables, variables.m.size() == 2)", "[1].all(params, .params.m.a == 1)",
		"!has(params.s) || params.m.a == 1", "params.m.a == params.m.z", "['a', 'b'].all(k, k in params.m)", "['a', 'b'].all(k, params.m[k] == 1)", "params.m.map(k, params.m[k]).size() == 2",
	} {
		p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(limits), Validations: policytest.Validations(expression), Variables: variables})
		decide := func(params ...*unstructured.Unstructured) []string {
			all := newObjects()
			all.kinds[limits].items = params
			s := storeWith(policyspec.Features{}, all, p, withParams(policytest.Binding("b", "p"), selected("", "")))
			var decisions []string
			for _, d := range evaluate(t, newServer(), create(5), s.Snapshot()).Decisions() {
				decisions = append(decisions, fmt.Sprint(d.Outcome, " ", d.Message))
			}
			return decisions
		}
		together := decide(items...)
		for i, param := range items {
			if alone := decide(param); len(alone) != 1 || together[i] != alone[0] {
				t.Errorf("%s: decision about %v is %q with other params, and %q alone", expression, param.Object, together[i], alone)
			}
		}
	}
}
