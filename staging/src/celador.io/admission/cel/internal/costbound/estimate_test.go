// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package costbound_test

import (
	"math"
	"strings"
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

func listOf(t *apiservercel.DeclType) *apiservercel.DeclType {
	return apiservercel.NewListType(t, math.MaxInt)
}

func objectOf(name string, fields map[string]*apiservercel.DeclType) *apiservercel.DeclType {
	declared := map[string]*apiservercel.DeclField{}
	for field, t := range fields {
		declared[field] = apiservercel.NewDeclField(field, t, false, nil, nil)
	}
	return apiservercel.NewObjectType(name, declared)
}

func self() *apiservercel.DeclType {
	text := *apiservercel.StringType
	text.MaxElements = math.MaxInt
	leaf := objectOf("leaf", map[string]*apiservercel.DeclType{"name": &text, "tags": listOf(&text)})
	group := objectOf("group", map[string]*apiservercel.DeclType{"name": &text, "members": listOf(leaf)})
	return objectOf("object", map[string]*apiservercel.DeclType{
		"name": &text, "groups": listOf(group), "members": listOf(leaf), "few": apiservercel.NewListType(leaf, 3),
		"byName": apiservercel.NewMapType(apiservercel.StringType, leaf, math.MaxInt), "open": apiservercel.DynType,
	}).MaybeAssignTypeName("object(root)")
}

func cost(t *testing.T, source string, size float64) float64 {
	t.Helper()
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self(), NullResults: true}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	expression, celErr := env.Compile(source)
	if celErr != nil {
		t.Fatal(celErr)
	}
	cost, err := expression.MaxCost(schemaexpression.ObjectSize{Entries: size, Text: 100 * size})
	if err != nil {
		t.Fatal(err)
	}
	return cost
}

// The cost of an expression grows with the size of the object like the number of its values, pairs
// of values, and so on.
func TestGrowth(t *testing.T) {
	for source, degree := range map[string]float64{
		"self.name + 'a'":                              1,
		"self.groups.map(g, g.name)":                   1,
		"self.groups.map(g, g.members.map(m, m.name))": 1,
		"self.groups.map(g, g.members.map(m, m.tags.map(t, t + '-' + m.name)))":                        2,
		"self.groups.map(g, g.members.map(m, m.tags.map(t, t + '-')))":                                 1,
		"self.groups.map(g, g.members.filter(m, m.name != '').map(m, m.tags.filter(t, t != '')))":      1,
		"self.groups.map(g, g.members).flatten().map(m, m.tags.join(','))":                             1,
		"self.?groups.orValue([]).map(g, g.?members.orValue([]).map(m, m.?name.orValue('')))":          1,
		"self.?groups.optMap(gs, gs.map(g, g.?members.optMap(ms, ms.map(m, m.name))))":                 1,
		"dyn(self.groups).map(g, g.name)":                                                              1,
		"self.?groups == optional.none() ? [] : self.groups.map(g, g.members.size())":                  1,
		"has(self.groups) ? self.groups.map(g, has(g.members) ? g.members.map(m, m.name) : []) : null": 1,
		"self.byName.map(k, self.byName[k].name + k)":                                                  1,
		"self.byName.map(k, k).filter(k, k != '').map(k, self.byName[k].tags.map(t, t + '-'))":         1,
		"self.byName.transformList(k, v, k + v.name)":                                                  1,
		"self.members.transformMapEntry(i, m, {m.name: m})":                                            1,
		"self.members.map(m, self.groups.filter(g, g.name == m.name))":                                 2,
		"self.members.map(m, self.few.filter(f, f.name == m.name))":                                    1,
		"self.members.map(m, m.name).distinct()":                                                       2,
		"self.groups.map(g, self.members.map(m, self.members.filter(n, n.name == m.name)))":            3,
		"self.open.map(a, a.b.map(c, c.d))":                                                            1,
		"self.name.split(',').map(p, p.trim())":                                                        1,

		// Lists and maps that are made of those in a list
		"self.groups.map(g, g.members.map(m, {'name': m.name})).flatten().map(n, n.name + '-')":                   1,
		"self.groups.transformList(i, g, g.members.transformList(j, m, [m.name])).flatten().flatten().join()":     1,
		"self.groups.map(g, g.members.map(m, m.tags.map(t, {'tag': t}))).flatten().flatten().map(t, t.tag + '-')": 1,

		// Indices
		"lists.range(size(self.groups)).map(i, self.groups[i].name + '-')":                                                                                   1,
		"lists.range(size(self.groups)).map(i, lists.range(size(self.groups[i].members)).map(j, self.groups[i].members[j].tags.map(t, t + '-')))":            1,
		"self.?groups.optMap(gs, lists.range(gs.size()).map(i, gs[i].?members.optMap(ms, lists.range(size(ms)).map(j, ms[j].name))))":                        1,
		"lists.range(size(self.groups)).filter(i, self.groups[i].name != '').map(i, self.groups[i].name + '-')":                                              1,
		"self.groups.transformList(i, g, self.groups[i].name + g.name)":                                                                                      1,
		"lists.range(size(self.members)).map(i, self.members.filter(m, m.name == self.members[i].name))":                                                     2,
		"lists.range(size(self.members)).map(i, lists.range(size(self.members)).map(j, lists.range(size(self.members)).map(k, self.members[i].name + 'x')))": 3,
		"lists.range(size(self.members)).map(i, self.members[0].name + '-')":                                                                                 2,
		"self.members.all(x, self.members.all(y, self.members.all(z, x.name + y.name == z.name)))":                                                           3,
	} {
		const small, large = 1e6, 1e8
		a, b := cost(t, source, small), cost(t, source, large)
		if got := math.Log(b/a) / math.Log(large/small); math.Abs(got-degree) > 0.2 {
			t.Errorf("%s: the cost grows with the power %.2f of the size, want %v (%.0f, %.0f)", source, got, degree, a, b)
		}
	}
}

// The values of variables outside of the scope have the sizes of their types, and those of shared
// variables the sizes of their expressions.
func TestVariables(t *testing.T) {
	whole := schemaexpression.Scope{
		Self: self(), Shared: schemaexpression.NewShared(), NullResults: true,
		Others: []schemaexpression.Declaration{{Name: schemaexpression.Root, Type: self()}},
	}
	compile := func(scope schemaexpression.Scope, source string) *schemaexpression.Expression {
		env, err := schemaexpression.Default().Environment(scope, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		x, celErr := env.Compile(source)
		if celErr != nil {
			t.Fatal(celErr)
		}
		return x
	}
	whole.Shared.Declare("names", compile(whole, "self.members.map(m, m.name)"))
	whole.Shared.Declare("few", compile(whole, "self.few"))
	whole.Shared.Declare("pairs", compile(whole, "variables.names.map(n, variables.names.map(o, o + n))"))
	entry := whole
	entry.Self = apiservercel.StringType
	entry.Others = append(entry.Others, schemaexpression.Declaration{Name: "index", Type: apiservercel.StringType})
	for source, degree := range map[string]float64{
		"self + 'a'":                                      1,
		"index + 'a'":                                     1,
		"root.few.map(f, f.tags.size())":                  1,
		"root.members.map(m, m.name)":                     2,
		"variables.few.map(f, f.tags.size())":             1,
		"variables.names.map(n, n + '-')":                 2,
		"variables.names.map(n, n == self)":               2,
		"variables.pairs.map(p, p.map(q, q.size()))":      3,
		"root.byName.map(k, k + '-')":                     2,
		"size(variables.names) + size(variables.pairs)":   1,
		"variables.names.map(n, variables.few.map(f, n))": 2,
	} {
		x := compile(entry, source)
		cost := func(size float64) float64 {
			cost, err := x.MaxCost(schemaexpression.ObjectSize{Entries: size, Text: 100 * size}, -1)
			if err != nil {
				t.Fatal(err)
			}
			return cost
		}
		const small, large = 1e6, 1e8
		if got := math.Log(cost(large)/cost(small)) / math.Log(large/small); math.Abs(got-degree) > 0.2 {
			t.Errorf("%s: the cost grows with the power %.2f of the size, want %v", source, got, degree)
		}
	}
}

// Values that double with each call are too complex for an estimate.
func TestSteps(t *testing.T) {
	source := "[self.name]" + strings.Repeat(".map(x, [x, x])", 40)
	if got := cost(t, source, 100); got < 1 {
		t.Errorf("got %v", got)
	}
}

// One key, or one value of any type, may have all characters of the object.
func TestTextsWithoutLimits(t *testing.T) {
	for _, source := range []string{"self.byName.map(k, k + '-')", "self.open + '-'", "self.name + '-'"} {
		env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self()}, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		x, celErr := env.Compile(source)
		if celErr != nil {
			t.Fatal(celErr)
		}
		const characters = 1e6
		if cost, err := x.MaxCost(schemaexpression.ObjectSize{Entries: 1, Text: characters}); err != nil || cost < characters/10 {
			t.Errorf("%s: got cost %v, %v for a text of %.0f characters", source, cost, err, characters)
		}
	}
}
