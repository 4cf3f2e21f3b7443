// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// patterns generates strings for the patterns in the schemas of the examples.
var patterns = map[string]func(*rand.Rand) string{
	`^([0-9]+(h|m|s))+$`:  func(r *rand.Rand) string { return fmt.Sprint(r.IntN(100000), "s") },
	`^\[[0-9]+-[0-9]+\]$`: func(r *rand.Rand) string { return fmt.Sprintf("[%d-%d]", r.IntN(10), r.IntN(10)) },
	`^[0-9a-fA-F.:]+$`:    func(r *rand.Rand) string { return fmt.Sprintf("192.0.2.%d", r.IntN(256)) },
}

// words are the strings that the generator combines.
var words = []string{"a", "Z", "0", "-", "/", ".", "é", "漢", `"`, "'", `\`, ",", " ", "{", "true", "null", "\n"}

// A generator makes custom resources that are valid for a schema, except that optional objects have
// at least one field.
type generator struct {
	*rand.Rand
	t testing.TB
	// more is added to the lengths of lists and maps.
	more int
}

// object returns a custom resource of the definition in a version.
func (g *generator) object(d *definition, version string) *unstructured.Unstructured {
	return g.objectOf(d, version, d.schemas.Structural(version))
}

// objectOf returns a custom resource of the definition in a version with another schema.
func (g *generator) objectOf(d *definition, version string, s *structuralschema.Structural) *unstructured.Unstructured {
	content, _ := g.value(s).(map[string]any)
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(d.crd.Spec.Group + "/" + version)
	object.SetKind(d.crd.Spec.Names.Kind)
	object.SetName("generated")
	object.SetNamespace("default")
	if g.IntN(2) == 0 {
		object.SetLabels(map[string]string{"label": fmt.Sprint(g.IntN(10))})
	}
	if g.IntN(2) == 0 {
		object.SetAnnotations(map[string]string{"example.com/annotation": g.text(0, 20)})
	}
	if g.IntN(2) == 0 {
		object.SetFinalizers([]string{"example.com/finalizer"})
		object.SetResourceVersion(fmt.Sprint(g.IntN(1000)))
	}
	return object
}

// value returns a random value of a schema.
func (g *generator) value(s *structuralschema.Structural) any {
	validation := s.ValueValidation
	if validation == nil {
		validation = &structuralschema.ValueValidation{}
	}
	switch {
	case s.XIntOrString:
		if g.IntN(2) == 0 {
			return int64(g.IntN(100))
		}
		return fmt.Sprintf("%d%%", g.IntN(100))
	case len(validation.Enum) > 0:
		return validation.Enum[g.IntN(len(validation.Enum))].Object
	case s.Type == "" && s.XPreserveUnknownFields:
		return g.any(2)
	}
	switch s.Type {
	case "object":
		return g.properties(s, validation)
	case "array":
		return g.items(s, validation)
	case "string":
		switch {
		case validation.Format == "date-time":
			return fmt.Sprintf("2026-11-%02dT10:00:00Z", 1+g.IntN(30))
		case validation.Pattern != "":
			generate, ok := patterns[validation.Pattern]
			if !ok {
				g.t.Fatalf("add a generator for pattern %s", validation.Pattern)
			}
			return generate(g.Rand)
		}
		return g.text(int(number(validation.MinLength, 0)), int(number(validation.MaxLength, 20)))
	case "integer":
		low, high := int64(0), int64(1<<53)
		if validation.Minimum != nil {
			low = int64(*validation.Minimum)
		}
		if validation.Maximum != nil {
			high = int64(*validation.Maximum)
		}
		return low + g.Int64N(high-low+1)
	case "boolean":
		return g.IntN(2) == 0
	}
	g.t.Fatalf("add a generator for type %q", s.Type)
	return nil
}

// properties returns an object or a map.
func (g *generator) properties(s *structuralschema.Structural, validation *structuralschema.ValueValidation) map[string]any {
	object := map[string]any{}
	if s.AdditionalProperties != nil {
		for range g.IntN(4) + g.more {
			object[g.text(1, 20)] = g.value(s.AdditionalProperties.Structural)
		}
		return object
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	if validation.MaxProperties != nil && *validation.MaxProperties == 1 {
		names = []string{names[g.IntN(len(names))]}
	}
	for _, name := range names {
		property := s.Properties[name]
		required := slices.Contains(validation.Required, name) || len(names) == 1
		if !required && g.IntN(3) == 0 {
			continue
		}
		value := g.value(&property)
		if fields, ok := value.(map[string]any); ok && len(fields) == 0 && !required {
			continue
		}
		object[name] = value
	}
	return object
}

// items returns a list. The items of a list of type map have unique keys.
func (g *generator) items(s *structuralschema.Structural, validation *structuralschema.ValueValidation) []any {
	low, high := int(number(validation.MinItems, 0)), int(min(number(validation.MaxItems, 4), 4))
	list, keys := []any{}, map[string]bool{}
	if validation.MaxItems == nil {
		low, high = low+g.more, high+g.more
	}
	for range low + g.IntN(high-low+1) {
		item := g.value(s.Items)
		if len(s.XListMapKeys) > 0 {
			var key []string
			for _, name := range s.XListMapKeys {
				key = append(key, fmt.Sprint(item.(map[string]any)[name]))
			}
			joined := strings.Join(key, "\x00")
			if keys[joined] {
				continue
			}
			keys[joined] = true
		}
		list = append(list, item)
	}
	return list
}

// text returns a string with a length in code points between low and high.
func (g *generator) text(low, high int) string {
	var b strings.Builder
	length := low + g.IntN(min(high, low+20)-low+1)
	for n := 0; n < length; {
		word := words[g.IntN(len(words))]
		if size := len([]rune(word)); n+size <= length {
			b.WriteString(word)
			n += size
		}
	}
	return b.String()
}

// any returns a JSON value other than null, nested to the given depth.
func (g *generator) any(depth int) any {
	kinds := 3
	if depth > 0 {
		kinds = 5
	}
	switch g.IntN(kinds) {
	case 0:
		return g.text(0, 10)
	case 1:
		return int64(g.IntN(1000))
	case 2:
		return g.IntN(2) == 0
	case 3:
		return []any{g.any(depth - 1), g.any(depth - 1)}
	default:
		return map[string]any{g.text(1, 5): g.any(depth - 1)}
	}
}

// number returns the value of a pointer, or otherwise.
func number(p *int64, otherwise int64) int64 {
	if p == nil {
		return otherwise
	}
	return *p
}

// dump returns the object in JSON, for messages.
func dump(object *unstructured.Unstructured) string {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
