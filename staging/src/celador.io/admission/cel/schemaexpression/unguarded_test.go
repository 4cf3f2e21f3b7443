// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"fmt"
	"strings"
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// guardedSelf is the type of self in the tests of guards: o holds l, a list of objects with a, b
// and another list l.
func guardedSelf() *apiservercel.DeclType {
	field := func(name string, t *apiservercel.DeclType) *apiservercel.DeclField {
		return apiservercel.NewDeclField(name, t, false, nil, nil)
	}
	object := func(fields ...*apiservercel.DeclField) *apiservercel.DeclType {
		byName := map[string]*apiservercel.DeclField{"a": field("a", apiservercel.StringType), "b": field("b", apiservercel.StringType), "n": field("n", apiservercel.IntType), "t": field("t", apiservercel.BoolType)}
		for _, f := range fields {
			byName[f.Name] = f
		}
		return apiservercel.NewObjectType("object", byName)
	}
	list := func(of *apiservercel.DeclType) *apiservercel.DeclField {
		return field("l", apiservercel.NewListType(of, 10))
	}
	values := field("m", apiservercel.NewMapType(apiservercel.StringType, object(), 10))
	return object(field("o", object(list(object(list(object()))))), list(object(list(object()))), values).MaybeAssignTypeName("object(v1)")
}

func TestUnguardedReads(t *testing.T) {
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: guardedSelf(), NullResults: true}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ expression, reads string }{
		{"1", ""},
		{"self", ""},
		{"self.a", "a"},
		{"self.o.a", "o o.a"},
		{"self.a + self.a", "a"},
		{"self.?a", ""},
		{"self.?o.a.orValue('')", ""},
		{"self.o.?a", "o"},
		{"self.?a.value()", "a"},
		{"self.?a.hasValue() ? self.?a.value() : ''", ""},
		{"self.?o.?a.hasValue() ? self.o.a : ''", ""},
		{"self.?a.optMap(v, v + 'x')", ""},
		{"self.?o.optMap(v, v.a)", "o.a"},
		{"self.?o.optMap(v, has(v.a) ? v.a : '')", ""},
		{"self.?o.optFlatMap(v, v.?a)", ""},

		// Conditions.
		{"has(self.a) ? self.a : ''", ""},
		{"has(self.a) ? self.b : ''", "b"},
		{"has(self.a) ? '' : self.a", "a"},
		{"!has(self.a) ? '' : self.a", ""},
		{"has(self.a) ? self.a : null", ""},
		{"has(self.o.a) ? self.o.a : ''", ""},
		{"has(self.o) && has(self.o.a) ? self.o.a : ''", ""},
		{"has(self.o) && self.o.a == 'x'", "o.a"},
		{"has(self.a) && self.a == 'x'", ""},
		{"self.a == 'x' && has(self.a)", ""},
		{"!has(self.a) || self.a == 'x'", ""},
		{"has(self.a) || self.a == 'x'", "a"},
		{"has(self.a) || has(self.b) ? self.a : ''", "a"},
		{"(has(self.a) && has(self.b)) || has(self.a) ? self.a : ''", ""},
		{"!(has(self.a) && has(self.b)) ? '' : self.a + self.b", ""},
		{"!has(self.a) || !has(self.b) ? '' : self.a + self.b", ""},
		{"(has(self.a) ? has(self.b) : false) ? self.a + self.b : ''", ""},
		{"(has(self.a) ? true : has(self.b)) ? self.a + self.b : ''", "a b"},
		{"has(self.a) ? (has(self.b) ? self.a + self.b : self.a) : ''", ""},
		{"[has(self.a) ? self.a : '', has(self.b) ? self.b : '', self.o.a]", "o o.a"},
		{"{'k': self.a}", "a"},

		// Values instead of those that are unset.
		{"self.?a.orValue('') != '' ? self.a : ''", ""},
		{"self.?a.orValue('') == '' ? self.a : ''", "a"},
		{"self.?a.orValue('') == 'x' ? self.a : ''", ""},
		{"'x' == self.?a.orValue('') ? self.a : ''", ""},
		{"self.?a.orValue('x') == 'x' ? self.a : ''", "a"},
		{"self.?n.orValue(0) > 0 ? self.n : 0", ""},
		{"0 < self.?n.orValue(0) ? self.n : 0", ""},
		{"self.?n.orValue(0) >= 0 ? self.n : 0", "n"},
		{"self.?t.orValue(false) ? self.t : false", ""},
		{"self.?t.orValue(true) ? self.t : false", "t"},
		{"!self.?t.orValue(true) ? self.t : false", ""},
		{"size(self.?l.orValue([])) > 0 ? self.l : []", ""},
		{"self.?l.orValue([]).size() == 0 ? [] : self.l", ""},
		{"self.?l.orValue([]).exists(i, true) ? self.l : []", ""},
		{"self.?a.orValue('').startsWith('x') ? self.a : ''", ""},
		{"self.?a == optional.of('x') ? self.a : ''", ""},
		{"self.?a != optional.none() ? self.a : ''", ""},
		{"self.?a == optional.none() ? '' : self.a", ""},

		// Maps.
		{"self.?m.orValue({})['k'].a", "m.k m.k.a"},
		{"'k' in self.?m.orValue({}) ? self.m['k'] : null", ""},
		{"has(self.m) ? self.m['k'].a : ''", "m.k m.k.a"},
		{"has(self.m) && 'k' in self.m ? self.m['k'] : null", ""},
		{"has(self.m) && 'k' in self.m ? self.m.k : null", ""},
		{"has(self.m) ? self.m[?'k'] : optional.none()", ""},
		{"has(self.m) ? self.m.map(k, self.m[k].n) : []", "m.[*].n"},
		{"has(self.m) ? self.m.map(k, has(self.m[k].n), self.m[k].n) : []", ""},
		{"has(self.m) ? self.m.transformList(k, v, v.n) : []", "m.[*].n"},
		{"has(self.m) ? self.m.transformList(k, v, has(v.n), v.n) : []", ""},

		{"self.?m.orValue({}).map(k, self.m[k].?a.orValue(''))", ""},
		{"self.?m.orValue({}).map(k, self.m[k].a)", "m.[*].a"},
		{"self.?m.orValue({}).map(k, k).sort().map(k, has(self.m[k].a) ? self.m[k].a : self.m[k].?b.orValue(''))", ""},
		{"self.?m.orValue({}).map(k, k).sort().map(k, self.m[k].a)", ""},
		{"self.?m.orValue({}).map(k, has(self.m[k].a), k).filter(k, k != '').map(k, self.o.a)", "o o.a"},
		{"self.?m.orValue({}).transformList(k, v, has(v.a) ? self.m[k].a : '')", ""},
		{"self.?m.orValue({}).map(k, k).sort().map(k, self.o.?a)", "o"},

		// Lists.
		{"self.?l.orValue([]).map(i, size(self.l))", ""},
		{"self.?l.orValue([]).map(i, has(i.a)).exists(b, b) ? self.l[0].?a : optional.none()", "l"},
		{"has(self.l) ? self.l.map(i, i.a) : []", "l.[*].a"},
		{"self.?l.orValue([]).map(i, i.a)", "l.[*].a"},
		{"self.?l.orValue([]).map(i, has(i.a), i.a)", ""},
		{"self.?l.optMap(l, l.map(i, i.a))", "l.[*].a"},
		{"has(self.l) ? self.l.map(i, has(i.a), i.a) : []", ""},
		{"has(self.l) ? self.l.filter(i, has(i.a)).map(i, i.a) : []", ""},
		{"has(self.l) ? self.l.filter(i, has(i.a)).filter(i, i.a == 'x' && has(i.b)).map(i, i.a + i.b) : []", ""},
		{"has(self.l) ? self.l.filter(i, has(i.a)).map(i, i.b) : []", "l.[*].b"},
		{"has(self.l) && self.l.all(i, has(i.a)) ? self.l.map(i, i.a) : []", ""},
		{"has(self.l) && !self.l.exists(i, !has(i.a)) ? self.l.map(i, i.a) : []", ""},
		{"has(self.l) && self.l.exists(i, has(i.a)) ? self.l.map(i, i.a) : []", "l.[*].a"},
		{"has(self.l) ? self.l.map(i, has(i.a), self.l.map(j, j.a)) : []", "l.[*].a"},
		{"has(self.l) && self.l.all(i, has(i.l) && i.l.all(j, has(j.a))) ? self.l.map(i, i.l.map(j, j.a)) : []", ""},
		{"has(self.l) ? self.l.map(self, self.a) : []", "l.[*].a"},
		{"has(self.l) && size(self.l) > 0 ? self.l[0].a : ''", "l.[*].a"},
		{"has(self.l) && size(self.l) > 0 && has(self.l[0].a) ? self.l[0].a : ''", ""},
		{"has(self.l) && size(self.l) > 1 && has(self.l[0].a) ? self.l[1].a : ''", "l.[*].a"},
	} {
		t.Run(test.expression, func(t *testing.T) {
			x, err := env.Compile(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			var reads []string
			for _, read := range x.UnguardedReads() {
				reads = append(reads, strings.Join(read.Path, "."))
			}
			if got := strings.Join(reads, " "); got != test.reads {
				t.Errorf("got %q, want %q", got, test.reads)
			}
		})
	}
}

// TestUnguardedReadsOfVariables checks the reads of root, and those of shared variables where they
// are used. self is o.l[*].
func TestUnguardedReadsOfVariables(t *testing.T) {
	root := guardedSelf()
	scope := schemaexpression.Scope{
		Self: root, Others: []schemaexpression.Declaration{{Name: schemaexpression.Root, Type: root}}, Shared: schemaexpression.NewShared(), NullResults: true,
	}
	compile := func(scope schemaexpression.Scope, source string) *schemaexpression.Expression {
		t.Helper()
		env, err := schemaexpression.Default().Environment(scope, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		x, invalid := env.Compile(source)
		if invalid != nil {
			t.Fatal(invalid)
		}
		return x
	}
	for _, variable := range [][2]string{
		{"a", "self.a"},
		{"o", "self.o"},
		{"safeA", "self.?a.orValue('')"},
		{"guardedA", "has(self.a) ? self.a : ''"},
		{"optionalA", "self.?a"},
		{"hasA", "has(self.a)"},
		{"hasAll", "self.?l.orValue([]).all(i, has(i.a))"},
		{"list", "self.?l.orValue([])"},
		{"named", "variables.list.filter(i, has(i.a))"},
		{"sum", "variables.a + root.b"},
		{"later", "variables.hasA && variables.a != ''"},
	} {
		scope.Shared.Declare(variable[0], compile(scope, variable[1]))
	}
	entry := scope
	entry.Self = root.Fields["o"].Type.Fields["l"].Type.ElemType
	for _, test := range []struct{ expression, reads string }{
		// root
		{"root.a", "root.a"},
		{"root.a + self.a", "root.a self.a"},
		{"has(root.a) ? root.a : ''", ""},
		{"has(self.a) ? root.a : ''", "root.a"},
		{"root.?a.orValue('') + root.o.?a.orValue('')", ""},
		{"root.o.l.map(i, i.a)[0]", "root.o.l.[*].a"},
		{"root.o.l.all(i, has(i.a)) ? self.a : ''", ""},
		{"root.o.l.all(i, has(i.b)) ? self.a : ''", "self.a"},
		{"root.o.l.map(i, has(i.a), self.a)[0]", "self.a"},
		{"root.o.l[0].a == self.b && has(self.b)", "root.o.l.[*].a"},

		// variables
		{"variables.a", "self.a in a"},
		{"variables.a + variables.a + root.a", "self.a in a"},
		{"variables.safeA + variables.guardedA + string(variables.hasA)", ""},
		{"variables.optionalA.orValue('')", ""},
		{"variables.optionalA.value()", "root.a"},
		{"variables.optionalA.hasValue() ? variables.a : ''", ""},
		{"variables.sum", "self.a in a root.b in sum"},
		{"has(root.a) ? variables.sum : ''", "root.b in sum"},
		{"has(root.a) && has(root.b) ? variables.sum : ''", ""},
		{"has(self.a) ? variables.a : ''", "self.a in a"},
		{"variables.later ? variables.a : ''", ""},
		{"variables.hasA ? root.a : ''", ""},
		{"variables.hasA ? variables.a : ''", ""},
		{"!variables.hasA ? '' : variables.a", ""},
		{"variables.hasA ? '' : variables.a", "self.a in a"},
		{"variables.safeA != '' ? variables.a : ''", ""},
		{"size(variables.safeA) > 0 && root.a == 'x'", ""},
		// There is no self without o.
		{"variables.o.a", "root.o.a"},
		{"has(root.o.a) ? variables.o.a : ''", ""},
		{"has(variables.o.a) ? root.o.a : ''", ""},
		{"variables.list.map(i, i.a)", "root.l.[*].a"},
		{"variables.named.map(i, i.a)", ""},
		{"variables.named.map(i, i.b)", "root.l.[*].b"},
		{"variables.hasAll ? variables.list.map(i, i.a) : []", ""},
		{"variables.list.map(self, self.a)", "root.l.[*].a"},
	} {
		t.Run(test.expression, func(t *testing.T) {
			var reads []string
			for _, read := range compile(entry, test.expression).UnguardedReads("o", "l", schemaexpression.Entry) {
				text := read.Variable + "." + strings.Join(read.Path, ".")
				if read.Shared != "" {
					text += " in " + read.Shared
				}
				reads = append(reads, text)
			}
			if got := strings.Join(reads, " "); got != test.reads {
				t.Errorf("got %q, want %q", got, test.reads)
			}
		})
	}
}

// Variables that read each other several times are analyzed in bounded time.
func TestUnguardedReadsAreBounded(t *testing.T) {
	root := guardedSelf()
	scope := schemaexpression.Scope{Self: root, Others: []schemaexpression.Declaration{{Name: schemaexpression.Root, Type: root}}, Shared: schemaexpression.NewShared()}
	env, err := schemaexpression.Default().Environment(scope, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	source := "self.a == 'x'"
	for i := range 60 {
		x, invalid := env.Compile(source)
		if invalid != nil {
			t.Fatal(invalid)
		}
		name := fmt.Sprintf("v%d", i)
		scope.Shared.Declare(name, x)
		source = fmt.Sprintf("(variables.%s ? variables.%s : !variables.%s) && has(self.b)", name, name, name)
	}
	x, invalid := env.Compile(source)
	if invalid != nil {
		t.Fatal(invalid)
	}
	if reads := x.UnguardedReads(); len(reads) != 1 || reads[0].Shared != "v0" {
		t.Errorf("got %v, want the read of a", reads)
	}
}
