// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/schemaexpression"
)

// objectsOfResource are expressions for the objects of testdata/resource.yaml, at every depth and
// of every kind: with fields, with other values, with unknown fields that are preserved, embedded,
// and in lists.
var objectsOfResource = []string{
	"self", "self.spec", "self.metadata", "self.spec.free", "self.spec.template", "self.spec.template.metadata", "self.spec.labels",
	"self.spec.ports[0]", "self.spec.rules[0]", "self.spec.rules[0].backends[1]",
}

// objectExpressions are expressions that iterate over an object, which is $o, compare or search it.
// $p is the same object of oldSelf.
var objectExpressions = []string{
	"dyn($o)", "$o == $p", "$o != $p", "dyn($o) == dyn($p)", "[$o] == [$p]", "{'o': $o} == {'o': $p}", "optional.of($o) == optional.of($p)",
	"dyn($o) == {'name': 'x'}", "{'name': 'x'} == dyn($o)", "dyn($o) == dyn([1])", "dyn($o) in [dyn($p)]", "[dyn($o)].exists(o, o == dyn($p))",
	"[$o, $p].distinct().size()", "sets.contains([dyn($o)], [dyn($p)])",
	"size(dyn($o))", "'unknown' in dyn($o)", "'name' in dyn($o)", "dyn($o)['unknown']", "dyn($o).unknown", "has(dyn($o).unknown)", "dyn($o).?unknown", "dyn($o)[?'unknown']", "dyn($o)[?'name']",
	"dyn($o).map(k, k)", "dyn($o).map(k, k).size() == 1", "dyn($o).map(k, 1)", "dyn($o).map(k, [k])", "dyn($o).map(k, {'k': k})", "dyn($o).map(k, dyn({k: 1}))", "dyn($o).map(k, type(k))",
	"dyn($o).map(k, string(k))", "dyn($o).map(k, k + 'x')", "dyn($o).map(k, k in ['name', 'unknown'])", "dyn($o).map(k, k in dyn($o))", "dyn($o).map(k, dyn($o)[k])", "dyn($o).map(k, dyn($o)[?k])",
	"dyn($o).map(k, k != null, k)", "dyn($o).map(k, dyn($o).map(l, l == k).size())", "dyn($o).map(k, k)[0]", "dyn($o).map(k, k == null ? 'unknown' : k).sort().join(',')",
	"dyn($o).filter(k, true)", "dyn($o).filter(k, true).size()", "dyn($o).filter(k, k == null)", "dyn($o).filter(k, k != null).size() == dyn($o).size()", "dyn($o).filter(k, k.startsWith('n'))", "dyn($o).filter(k, k in dyn($p))",
	"dyn($o).all(k, true)", "dyn($o).all(k, k != null)", "dyn($o).all(k, k == null)", "dyn($o).all(k, k.size() > 0)", "dyn($o).all(k, k in ['name'])", "dyn($o).all(k, type(k) == string)", "dyn($o).all(k, k in dyn($p))",
	"dyn($o).exists(k, k == null)", "dyn($o).exists(k, k == 'name')", "dyn($o).exists(k, k == 'unknown')", "dyn($o).exists(k, k.contains('a'))", "dyn($o).exists(k, k.contains('n') || true)",
	"dyn($o).exists_one(k, k == null)", "dyn($o).exists_one(k, k == 'name')", "dyn($o).exists_one(k, true)", "dyn($o).exists_one(k, k.size() > 3)",
	"dyn($o).all(k, v, true)", "dyn($o).all(k, v, k != null)", "dyn($o).all(k, v, v != 'x')", "dyn($o).exists(k, v, k == null)", "dyn($o).exists(k, v, v == 'x')", "dyn($o).existsOne(k, v, k == null)", "dyn($o).existsOne(k, v, true)",
	"dyn($o).transformList(k, v, k)", "dyn($o).transformList(k, v, v)", "dyn($o).transformList(k, v, 1).size()", "dyn($o).transformList(k, v, k != null, v)",
	"dyn($o).transformMap(k, v, v)", "dyn($o).transformMap(k, v, 1).size()", "dyn($o).transformMap(k, v, k != null, v)", "dyn($o).transformMapEntry(k, v, {k: 1})", "dyn($o).transformMapEntry(k, v, k != null, {k: v})",
	"[dyn($o), dyn($p)].map(o, o.map(k, k).size())", "[dyn($o), dyn($p)].all(o, o.all(k, k != null))", "optional.of(dyn($o)).optMap(o, o.map(k, k)).value()",
	"dyn($o).map(k, k).size() == dyn($p).map(k, k).size()", "'%s'.format([dyn($o)])", "dyn($o).map(k, '%s'.format([k]))", "dyn($o).exists(k, k == null) ? dyn($o).size() : 0",
}

// TestUnknownFields compares expressions over objects that have fields that the schema does not
// declare with Kubernetes' validation rules.
func TestUnknownFields(t *testing.T) {
	r := loadResource(t)
	schema := schemaexpression.NewSchema(r.common())
	g := rand.New(rand.NewPCG(1, 0))
	var selves []map[string]any
	for _, name := range []string{"full", "changed", "full", "empty"} {
		selves = append(selves, addUnknown(g, runtime.DeepCopyJSON(r.Values[name])).(map[string]any))
	}
	for _, object := range objectsOfResource {
		for _, template := range objectExpressions {
			source := strings.NewReplacer("$o", object, "$p", strings.Replace(object, "self", "oldSelf", 1)).Replace(template)
			program := compile(t, r, source, schemaexpression.PlainOldSelf)
			if program == nil {
				continue
			}
			reference := r.reference(t, source, r.self().CelType())
			for i, self := range selves {
				old := selves[(i+1)%len(selves)]
				ours := &schemaexpression.Activation{Self: schemaexpression.Value(self, schema), OldSelf: schemaexpression.Value(old, schema)}
				theirs := map[string]any{"self": common.UnstructuredToVal(self, r.common()), "oldSelf": common.UnstructuredToVal(old, r.common())}
				for range 2 {
					difference := ""
					got := program.Evaluate(t.Context(), ours)
					for range evaluationsOfRandomOrder {
						want, details, err := reference.ContextEval(context.Background(), theirs)
						if difference = differ(got, want, *details.ActualCost(), err, unordered); difference == "" {
							break
						}
					}
					if difference != "" {
						t.Errorf("%s with self %d: %s", source, i, difference)
					}
				}
			}
		}
	}
}

// unordered is plainValue with sorted lists: Kubernetes iterates over the fields of objects in
// random order.
func unordered(v ref.Val) any {
	list, ok := plainValue(v).([]any)
	if !ok {
		return plainValue(v)
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return fmt.Sprint(list)
}

// addUnknown adds up to three unknown fields to each object in a value, and returns the value.
func addUnknown(g *rand.Rand, value any) any {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			addUnknown(g, element)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			addUnknown(g, value[name])
		}
		for i := range g.IntN(4) {
			value[fmt.Sprint("unknown", i)] = []any{nil, "x", int64(1), map[string]any{"name": "x"}, []any{"x"}}[g.IntN(5)]
		}
	}
	return value
}
