// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/values"
)

// TestSchema compares random values of random schemas with Kubernetes' conversion.
func TestSchema(t *testing.T) {
	for seed := range uint64(500) {
		checkSchema(t, seed)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(checkSchema)
}

func checkSchema(t *testing.T, seed uint64) {
	g := schemaFiller{rand.New(rand.NewPCG(seed, 0)), seed%2 == 1}
	schema := openapi.Schema{Schema: g.schema(3)}
	ours := values.NewSchema(&schema)
	contents := []any{g.content(schema.Schema), g.content(schema.Schema), g.content(schema.Schema)}
	for i, content := range contents {
		text, _ := json.Marshal(content)
		path := fmt.Sprintf("seed %d: %s", seed, text)
		if hasEscapedKeys(schema.Schema) {
			// The value does not equal itself in Kubernetes' conversion.
			plain := &openapi.Schema{Schema: withPlainNames(schema.Schema)}
			check(t, path, values.NewSchema(plain).Value(plainNames(content)), common.UnstructuredToVal(plainNames(content), plain))
		} else {
			check(t, path, ours.Value(content), common.UnstructuredToVal(content, &schema))
		}
		for _, other := range contents[i:] {
			checkPair(t, path, ours, &schema, content, other)
		}
	}
}

// checkPair compares operations on two values of a schema. Values that were read before must behave
// in the same way. Names must not matter for equality, but do in Kubernetes' conversion, which
// finds keys and fields by escaped names. So equality is compared with that of the same values with
// plain names.
func checkPair(t *testing.T, path string, ours *values.Schema, schema *openapi.Schema, content, other any) {
	t.Helper()
	a, b := ours.Value(content), ours.Value(other)
	theirA, theirB := common.UnstructuredToVal(content, schema), common.UnstructuredToVal(other, schema)
	plain := &openapi.Schema{Schema: withPlainNames(schema.Schema)}
	plainA, plainB := common.UnstructuredToVal(plainNames(content), plain), common.UnstructuredToVal(plainNames(other), plain)
	for range 2 {
		checkEqual(t, path+": equality of two", a, b, plainA, plainB)
		adder, ok := a.(traits.Adder)
		if !ok {
			return
		}
		sum, theirSum := adder.Add(b), theirA.(traits.Adder).Add(theirB)
		checkElements(t, path+": sum", sum, theirSum)
		if sum, ok := sum.(traits.Adder); ok {
			plainSum := plainA.(traits.Adder).Add(plainB)
			checkEqual(t, path+": equality with sum", a, sum.(ref.Val), plainA, plainSum)
			checkEqual(t, path+": equality of sum", sum.(ref.Val), b, plainSum, plainB)
			checkElements(t, path+": sum of three", sum.Add(a), theirSum.(traits.Adder).Add(theirA))
		}
	}
}

// plainName replaces the names of schemaFiller that need an escape, or are no identifiers.
func plainName(name string) string {
	plain := map[string]string{"a-b": "dash", "c.d/e": "dots", "in": "keyword", "namespace": "other", "under__score": "underscores", "日本": "japan"}
	return cmp.Or(plain[name], name)
}

// plainNames returns the value with plain names in all maps.
func plainNames(content any) any {
	switch content := content.(type) {
	case map[string]any:
		renamed := make(map[string]any, len(content))
		for name, field := range content {
			renamed[plainName(name)] = plainNames(field)
		}
		return renamed
	case []any:
		renamed := make([]any, len(content))
		for i, element := range content {
			renamed[i] = plainNames(element)
		}
		return renamed
	default:
		return content
	}
}

// hasEscapedKeys reports whether a list has keys whose names are escaped in expressions.
func hasEscapedKeys(s *spec.Schema) bool {
	keys, _ := s.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	return slices.ContainsFunc(keys, func(key string) bool {
		escaped, ok := apiservercel.Escape(key)
		return ok && escaped != key
	}) ||
		s.Items != nil && hasEscapedKeys(s.Items.Schema) ||
		s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && hasEscapedKeys(s.AdditionalProperties.Schema) ||
		slices.ContainsFunc(slices.Collect(maps.Values(s.Properties)), func(property spec.Schema) bool { return hasEscapedKeys(&property) })
}

// withPlainNames returns a copy of the schema with plain names of properties.
func withPlainNames(s *spec.Schema) *spec.Schema {
	renamed := *s
	if s.Items != nil {
		renamed.Items = &spec.SchemaOrArray{Schema: withPlainNames(s.Items.Schema)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		renamed.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: withPlainNames(s.AdditionalProperties.Schema)}
	}
	if s.Properties != nil {
		renamed.Properties = map[string]spec.Schema{}
		for name, property := range s.Properties {
			renamed.Properties[plainName(name)] = *withPlainNames(&property)
		}
	}
	if keys, ok := s.Extensions.GetStringSlice("x-kubernetes-list-map-keys"); ok {
		renamed.Extensions = maps.Clone(s.Extensions)
		for i, key := range keys {
			keys[i] = plainName(key)
		}
		renamed.Extensions["x-kubernetes-list-map-keys"] = anys(keys)
	}
	return &renamed
}

// equal compares two values. It turns a panic into an error, as cel-go does: keys of lists that are
// maps cannot be hashed.
func equal(l, r ref.Val) (result ref.Val) {
	defer func() {
		if recover() != nil {
			result = types.NewErr("panic")
		}
	}()
	return l.Equal(r)
}

// checkEqual compares the results of two comparisons of equal values. Where parts of maps are
// unequal and others cannot be compared, the order of Go's maps decides whether the result is false
// or an error, so both comparisons have several tries.
func checkEqual(t *testing.T, path string, ourL, ourR, theirL, theirR ref.Val) {
	t.Helper()
	const tries = 64
	ours, theirs := equal(ourL, ourR), equal(theirL, theirR)
	for i := 0; i < tries && fmt.Sprint(ours) != fmt.Sprint(theirs); i++ {
		ours, theirs = equal(ourL, ourR), equal(theirL, theirR)
	}
	checkSame(t, path, ours, theirs)
}

// checkElements compares the elements of two lists of values.
func checkElements(t *testing.T, path string, ours, theirs ref.Val) {
	t.Helper()
	list, ok := theirs.(traits.Lister)
	if !ok {
		checkSame(t, path, ours, theirs)
		return
	}
	if ours.(traits.Lister).Size() != list.Size() {
		t.Fatalf("%s: %v elements, want %v", path, ours.(traits.Lister).Size(), list.Size())
	}
	for i := types.Int(0); i < list.Size().(types.Int); i++ {
		checkSame(t, fmt.Sprintf("%s, element %d", path, i), ours.(traits.Lister).Get(i), list.Get(i))
	}
}

// A schemaFiller generates schemas and values. If invalid is set, some of the values do not match
// their schemas, and objects have at most one field: which of several invalid fields is reported is
// random.
type schemaFiller struct {
	*rand.Rand
	invalid bool
}

func (g schemaFiller) rarely() bool { return g.invalid && g.IntN(12) == 0 }

func pick[T any](g schemaFiller, from ...T) T { return from[g.IntN(len(from))] }

func (g schemaFiller) schema(depth int) *spec.Schema {
	s := &spec.Schema{}
	s.Nullable = g.IntN(8) == 0
	kind := g.IntN(12)
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0, 1:
		s.Type, s.Format = spec.StringOrArray{"string"}, pick(g, "", "", "", "date", "date-time", "duration", "byte", "other")
	case 2:
		s.Type = spec.StringOrArray{pick(g, "integer", "number", "boolean")}
	case 3:
		s.Type = spec.StringOrArray{"integer"}
	case 4:
		s.AddExtension("x-kubernetes-int-or-string", true)
	case 5:
		if g.rarely() {
			s.Type = spec.StringOrArray{"null"}
		} else {
			s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
		}
	case 6, 7, 8:
		s.Type = spec.StringOrArray{"array"}
		if !g.rarely() {
			s.Items = &spec.SchemaOrArray{Schema: g.schema(depth - 1)}
		}
		if !g.invalid && s.Items.Schema.Type.Contains("array") {
			break // the operations of sets fail
		}
		listType := pick(g, "", "atomic", "set", "map", "map")
		if !g.invalid && s.Items.Schema.Type.Contains("object") && listType == "set" {
			break
		}
		if listType == "" {
			break
		}
		s.AddExtension("x-kubernetes-list-type", listType)
		if listType == "map" {
			s.Items = &spec.SchemaOrArray{Schema: g.object(0)}
			keys := g.names()[:1+g.IntN(4)]
			if g.invalid {
				// Comparing keys that cannot be hashed panics, also in Kubernetes' conversion if it
				// finds them.
				keys = []string{"name", "kind"}[:1+g.IntN(2)]
			}
			for _, key := range keys {
				// API validation accepts scalar keys only.
				if property, ok := s.Items.Schema.Properties[key]; ok && !g.invalid && len(property.Type) == 0 {
					s.Items.Schema.Properties[key] = *spec.StringProperty()
				}
			}
			s.AddExtension("x-kubernetes-list-map-keys", anys(keys))
		}
	case 9:
		s.Type = spec.StringOrArray{"object"}
		switch g.IntN(8) {
		case 0:
			s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
		case 1:
			s.AdditionalProperties = &spec.SchemaOrBool{Allows: true}
		case 2:
			s.AddExtension("x-kubernetes-embedded-resource", true)
		default:
			s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: g.schema(depth - 1)}
		}
	default:
		return g.object(depth)
	}
	return s
}

func anys(texts []string) []any {
	var all []any
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// names returns names of fields, some of which expressions must escape.
func (g schemaFiller) names() []string {
	names := []string{"name", "kind", "a-b", "c.d/e", "in", "under__score", "namespace", "日本"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

func (g schemaFiller) object(depth int) *spec.Schema {
	s := &spec.Schema{}
	s.Type, s.Properties = spec.StringOrArray{"object"}, map[string]spec.Schema{}
	fields := 1
	if !g.invalid {
		fields += 1 + g.IntN(4)
	}
	for _, name := range g.names()[:fields] {
		s.Properties[name] = *g.schema(max(depth-1, 0))
	}
	if g.IntN(8) == 0 {
		s.AddExtension("x-kubernetes-embedded-resource", true)
	}
	return s
}

func (g schemaFiller) content(s *spec.Schema) any {
	if s.Nullable && g.IntN(3) == 0 {
		return nil
	}
	if g.rarely() {
		return pick[any](g, nil, "text", int64(1), 1.5, true, []any{}, map[string]any{}, int32(3), float32(1.5))
	}
	if intOrString, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); intOrString {
		return pick[any](g, int64(1), "http", int32(2), 3)
	}
	if len(s.Type) == 0 {
		return pick[any](g, int64(1), "x", map[string]any{"a": []any{int64(1)}}, []any{"x"})
	}
	switch s.Type[0] {
	case "string":
		switch {
		case s.Format == "date" && !g.rarely():
			return pick(g, "2026-01-01", "2025-12-31")
		case s.Format == "date-time" && !g.rarely():
			return pick(g, "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00")
		case s.Format == "duration" && !g.rarely():
			return pick(g, "1h", "60m", "3s")
		case s.Format == "byte" && !g.rarely():
			return pick(g, "YQ==", "Yg==")
		}
		return pick(g, "a", "b", "", "YQ==")
	case "integer":
		return pick[any](g, int64(0), int64(1), int32(1), 1)
	case "number":
		return pick[any](g, int64(1), 1.0, 1.5, float32(1.5), int32(2))
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		list := make([]any, 0, 3)
		items := &spec.Schema{}
		if s.Items != nil {
			items = s.Items.Schema
		}
		for range g.IntN(4) {
			list = append(list, g.content(items))
		}
		return list
	default:
		object := map[string]any{}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			for range g.IntN(3) {
				if g.invalid && len(object) > 0 {
					break
				}
				object[pick(g, g.names()...)] = g.content(s.AdditionalProperties.Schema)
			}
		}
		for name, property := range s.Properties {
			if g.IntN(4) > 0 {
				object[name] = g.content(&property)
			}
		}
		if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
			g.addUnknown(object)
		}
		return object
	}
}

// addUnknown adds fields to an object that its schema does not declare.
func (g schemaFiller) addUnknown(object map[string]any) {
	if g.invalid && !g.rarely() {
		return
	}
	for _, name := range []string{"unknown", "un-known", "un__known"}[g.IntN(4):] {
		object[name] = pick[any](g, nil, "x", int64(1), true, map[string]any{"a": int64(1)}, []any{"x"})
	}
}
