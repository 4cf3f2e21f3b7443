// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/typesize"
)

// language returns the environment of policies, with variables of several types.
var language = sync.OnceValue(func() *cel.Env {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(expression.RequestDeclarations(), expression.PatchDeclarations())
	if err != nil {
		panic(err)
	}
	var options []cel.EnvOption
	for name, t := range map[string]*cel.Type{
		"object": cel.DynType, "oldObject": cel.DynType, "params": cel.DynType, "any": cel.DynType,
		"b": cel.BoolType, "i": cel.IntType, "u": cel.UintType, "d": cel.DoubleType, "s": cel.StringType, "t": cel.StringType,
		"ints": cel.ListType(cel.IntType), "texts": cel.ListType(cel.StringType), "lists": cel.ListType(cel.ListType(cel.IntType)),
		"labels": cel.MapType(cel.StringType, cel.StringType), "maps": cel.MapType(cel.StringType, cel.ListType(cel.IntType)),
	} {
		options = append(options, cel.Variable(name, t))
	}
	env, err := set.StoredExpressionsEnv().Extend(options...)
	if err != nil {
		panic(err)
	}
	return env
})

var functions = sync.OnceValue(func() *typesize.Overloads { return typesize.NewOverloads(language()) })

// compare checks an expression if it is small enough, and compares the inferred sizes of all types
// with cel-go's. It reports whether the expression is well-typed.
func compare(t *testing.T, source string) bool {
	t.Helper()
	env := language()
	parsed, issues := env.Parse(source)
	if issues != nil || functions().Check(env, parsed) != nil {
		return false
	}
	sizes := functions().Sizes(env, parsed)
	checked, issues := check(env, parsed)
	if issues != nil || checked == nil {
		return false
	}
	for id, found := range checked.NativeRep().TypeMap() {
		if want, got := typesize.Of(found), sizes[id]; want.Types > max(got.Types, 1) || want.Work > max(got.Work, 1) {
			t.Errorf("%s: a part of type %v has the size %+v, inferred %+v", source, found, want, got)
		}
	}
	return true
}

// check returns nil if cel-go panics, as for [?dyn(1)].
func check(env *cel.Env, parsed *cel.Ast) (checked *cel.Ast, issues *cel.Issues) {
	defer func() { _ = recover() }()
	return env.Check(parsed)
}

func TestSizesOfOrdinaryExpressions(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"ordinary.txt": 100, "unusual.txt": 20} {
		content, err := os.ReadFile(filepath.Join("..", "internal", "evaluator", "testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && compare(t, line) {
				compared++
			}
		}
		if compared < least {
			t.Errorf("compared %d expressions of %s", compared, file)
		}
	}
}

// generate returns a random expression, most of whose subexpressions build types from other types.
func generate(r *rand.Rand, depth int, names []string) string {
	if depth == 0 || r.IntN(8) == 0 {
		leaves := append([]string{"1", "'a'", "[]", "{}", "optional.none()", "null", "true", "type(1)", "request.userInfo", "request.userInfo.extra"}, names...)
		return leaves[r.IntN(len(leaves))]
	}
	next := func() string { return generate(r, depth-1, names) }
	inside := func(name string) string {
		return generate(r, depth-1, append(names[:len(names):len(names)], name, name, name))
	}
	name := fmt.Sprint("n", depth)
	switch r.IntN(24) {
	case 0:
		return fmt.Sprintf("[%s]", next())
	case 1:
		return fmt.Sprintf("[%s, %s]", next(), next())
	case 2, 3:
		part := next()
		return fmt.Sprintf("{%s: %s}", part, part)
	case 4:
		return fmt.Sprintf("{'a': %s, 'b': %s}", next(), next())
	case 5:
		return fmt.Sprintf("(true ? %s : %s)", next(), next())
	case 6:
		return fmt.Sprintf("(%s + %s)", next(), next())
	case 7:
		return fmt.Sprintf("[%s][0]", next())
	case 8:
		return fmt.Sprintf("{'a': %s}['a']", next())
	case 9:
		return fmt.Sprintf("{'a': %s}.a", next())
	case 10:
		return fmt.Sprintf("{'a': %s}.?a", next())
	case 11:
		return fmt.Sprintf("[%s][?0].orValue(%s)", next(), next())
	case 12:
		return fmt.Sprintf("optional.of(%s)", next())
	case 13:
		return fmt.Sprintf("[%s].map(%s, %s)", next(), name, inside(name))
	case 14:
		return fmt.Sprintf("%s.map(%s, {%s: %s})", next(), name, name, name)
	case 15:
		return fmt.Sprintf("%s.filter(%s, %s == %s)", next(), name, name, inside(name))
	case 16:
		return fmt.Sprintf("{'a': %s}.transformMap(k%d, %s, %s)", next(), depth, name, inside(name))
	case 17:
		return fmt.Sprintf("[%s].transformMapEntry(k%d, %s, {%s: %s})", next(), depth, name, inside(name), name)
	case 18:
		return fmt.Sprintf("[%s].transformList(k%d, %s, %s)", next(), depth, name, inside(name))
	case 19:
		return fmt.Sprintf("(%s == %s)", next(), next())
	case 20:
		return fmt.Sprintf("optional.of(%s).value()", next())
	case 21:
		return fmt.Sprintf("[?%s]", next())
	case 22:
		return fmt.Sprintf("dyn(%s)", next())
	default:
		return fmt.Sprintf("%s.or(%s)", next(), next())
	}
}

func TestSizesOfGeneratedExpressions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 4000 {
		if compare(t, generate(r, 5, []string{"object", "ints", "labels", "maps"})) {
			compared++
		}
	}
	if compared < 1000 {
		t.Errorf("%d of the expressions are well-typed", compared)
	}
}
