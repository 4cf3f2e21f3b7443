// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	models "k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/celador/test/equivalence/harness"
)

// byModel generates apply configurations and JSON patches from the schema of a kind and an
// object of the kind.
type byModel struct {
	*generator
	// root has the JSON of the object.
	root map[string]any
	// inPatch is set in JSON patches.
	inPatch bool
	// inKey is set in the keys of list elements, which errors print in the order of a map.
	inKey bool
}

// configuration generates an apply configuration.
func (m *byModel) configuration(model *models.Schema) string {
	return m.objectOf(model, "Object", m.root, 0)
}

// objectOf generates an object with a few of the properties of a model, preferably those that
// the live object has.
func (m *byModel) objectOf(model *models.Schema, name string, live any, depth int) string {
	fields, _ := live.(map[string]any)
	properties := slices.DeleteFunc(slices.Sorted(maps.Keys(model.Properties)), func(property string) bool {
		return property == "apiVersion" || property == "kind" || !identifier.MatchString(property) || depth == 1 && strings.HasSuffix(name, "metadata") && (property == "name" || property == "namespace")
	})
	var set []string
	for range harness.Pick(m.generator, 1, 1, 2, 2, 3) {
		if len(properties) == 0 {
			break
		}
		present := slices.DeleteFunc(slices.Clone(properties), func(property string) bool { _, has := fields[property]; return !has })
		property := harness.Pick(m.generator, properties...)
		if len(present) > 0 && m.Chance(60) {
			property = harness.Pick(m.generator, present...)
		}
		properties = slices.DeleteFunc(properties, func(other string) bool { return other == property })
		schema := model.Properties[property]
		if atomic(&schema) && !m.Chance(5) {
			continue
		}
		set = append(set, property+": "+m.value(&schema, name+"."+property, fields[property], depth+1))
	}
	return name + "{" + strings.Join(set, ", ") + "}"
}

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// atomic reports whether apply configurations must not set a value of a schema, because it is
// atomic.
func atomic(schema *models.Schema) bool {
	target, _ := resolved(schema)
	listType, _ := schema.Extensions.GetString("x-kubernetes-list-type")
	mapType, _ := target.Extensions.GetString("x-kubernetes-map-type")
	if own, ok := schema.Extensions.GetString("x-kubernetes-map-type"); ok {
		mapType = own
	}
	return target.Type.Contains("array") && listType != "map" && listType != "set" || mapType == "atomic"
}

// value generates an expression that usually has the type of the schema.
func (m *byModel) value(schema *models.Schema, name string, live any, depth int) string {
	if m.Chance(4) && !m.inKey {
		return m.odd()
	}
	target, model := resolved(schema)
	switch {
	case strings.HasSuffix(model, ".Quantity"):
		return harness.Pick(m.generator, strconv.Quote(harness.Pick(m.generator, generatedQuantities...)), strconv.Quote(fmt.Sprint(live)), "5")
	case strings.HasSuffix(model, ".Time") || strings.HasSuffix(model, ".MicroTime"):
		return harness.Pick(m.generator, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.678912Z"`)
	case strings.HasSuffix(model, ".IntOrString"):
		return harness.Pick(m.generator, "5", `"25%"`, "0")
	case live != nil && m.Chance(15) && !target.Type.Contains("object") && !target.Type.Contains("array"):
		text, err := json.Marshal(live)
		if err != nil {
			panic(err)
		}
		return string(text)
	case target.Type.Contains("string"):
		return strconv.Quote(harness.Pick(m.generator, generatedTexts...))
	case target.Type.Contains("integer"):
		return harness.Pick(m.generator, "0", "1", "5", "80", "5.0", "int(string(5))")
	case target.Type.Contains("number"):
		return harness.Pick(m.generator, "0.5", "1", "2.0")
	case target.Type.Contains("boolean"):
		return harness.Pick(m.generator, "true", "false", "object.kind != ''")
	case target.Type.Contains("array"):
		return m.list(schema, target, name, live, depth)
	case target.AdditionalProperties != nil && target.AdditionalProperties.Schema != nil:
		return m.mapOf(target.AdditionalProperties.Schema, name, live, depth)
	case len(target.Properties) > 0 && depth < 14:
		return m.objectOf(target, name, live, depth)
	default:
		return harness.Pick(m.generator, `{"a": 1}`, "{}", `{"b": [1, {"c": "d"}], "a": 0.5}`)
	}
}

func (m *byModel) mapOf(element *models.Schema, name string, live any, depth int) string {
	entries, _ := live.(map[string]any)
	if m.Chance(10) {
		return harness.Pick(m.generator, "object.metadata.labels", "request.userInfo.extra", "namespaceObject.metadata.labels", "object.metadata.?annotations.orValue({})", "{}", "{'a': 'b'}.transformMap(k, v, v + k)")
	}
	set := map[string]string{}
	for range harness.Pick(m.generator, 1, 2, 0) {
		key := harness.Pick(m.generator, "cpu", "memory", "a", "b")
		if len(entries) > 0 && m.Chance(50) {
			key = harness.Pick(m.generator, slices.Sorted(maps.Keys(entries))...)
		}
		set[key] = strconv.Quote(key) + ": " + m.value(element, name, entries[key], depth+1)
	}
	return "{" + strings.Join(slices.Sorted(maps.Values(set)), ", ") + "}"
}

func (m *byModel) list(schema, target *models.Schema, name string, live any, depth int) string {
	elements, _ := live.([]any)
	keys, _ := schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	item := target.Items.Schema
	var made []string
	for range harness.Pick(m.generator, 1, 1, 2, 3, 0) {
		var existing any
		if len(elements) > 0 && m.Chance(60) {
			existing = harness.Pick(m.generator, elements...)
		}
		if len(keys) == 0 {
			made = append(made, m.value(item, name, existing, depth+1))
			continue
		}
		model, _ := resolved(item)
		fields, _ := existing.(map[string]any)
		element := m.objectOf(model, name, fields, depth+1)
		for _, key := range keys {
			value, err := json.Marshal(fields[key])
			if err != nil {
				panic(err)
			}
			if fields[key] == nil {
				property := model.Properties[key]
				m.inKey = true
				value = []byte(m.value(&property, name, nil, depth+1))
				m.inKey = false
			}
			if !strings.Contains(element, name+"{"+key+": ") && !strings.Contains(element, ", "+key+": ") && !m.Chance(4) {
				element = strings.Replace(element, "{", "{"+key+": "+string(value)+", ", 1)
			}
		}
		made = append(made, strings.Replace(element, ", }", "}", 1))
	}
	literal := "[" + strings.Join(made, ", ") + "]"
	return harness.Pick(m.generator, literal, literal, literal, literal, literal+".map(e, e)", literal+" + []")
}

// odd returns a value that does not fit the schema, or a part of the request.
func (m *byModel) odd() string {
	if m.Chance(30) {
		return m.part()
	}
	return harness.Pick(m.generator, "null", "{}", "[]", "1", "'x'", "ip('1.2.3.4')", "quantity('1Gi')", "{'a': semver('1.2.3')}", "[cidr('10.0.0.0/8')]", "timestamp('2026-01-02T03:04:05Z')", "duration('1h')", "'a,b'.split(',')", "optional.of('a')", "b'x'", "1u",
		"dyn({1: 2})", "type(1)", "url('http://h/p')", "Object.wrong{}")
}

// part returns a part of the request. Upstream converts only parts of the objects to JSON, and
// those only before match conditions are evaluated. Celador converts all parts, a wanted
// difference, so literals and patches contain no others.
func (m *byModel) part() string {
	if m.inPatch && m.conditional {
		return "object.metadata.name"
	}
	parts := []string{"object.metadata", "object.metadata.labels", "oldObject"}
	if !m.conditional {
		parts = append(parts, "[object.metadata]", "{'a': object.metadata.?labels.orValue({})}")
	}
	if !m.inPatch {
		parts = append(parts, "request.userInfo", "request.options", "request.userInfo.groups", "namespaceObject.metadata", "namespaceObject")
	}
	return harness.Pick(m.generator, parts...)
}

// patch generates a JSON patch.
func (m *byModel) patch() string {
	m.inPatch = true
	defer func() { m.inPatch = false }()
	pointers := m.pointers("", m.root)
	path := func() string {
		return harness.Pick(m.generator, harness.Pick(m.generator, pointers...), harness.Pick(m.generator, pointers...), "/metadata/labels/new", "/metadata/annotations", "/none/none", "/spec")
	}
	var operations []string
	for range harness.Pick(m.generator, 1, 1, 2, 3) {
		switch op := harness.Pick(m.generator, "replace", "add", "remove", "test", "move", "copy"); op {
		case "remove":
			operations = append(operations, fmt.Sprintf("JSONPatch{op: 'remove', path: %q}", path()))
		case "move", "copy":
			operations = append(operations, fmt.Sprintf("JSONPatch{op: %q, from: %q, path: %q}", op, path(), path()))
		default:
			value := harness.Pick(m.generator, "'a'", "5", "0", "true", "{}", "[]", `"1073741824"`, `"2Ki"`, `{"a": "b"}`, "[1]", m.odd())
			operations = append(operations, fmt.Sprintf("JSONPatch{op: %q, path: %q, value: %s}", op, path(), value))
		}
	}
	return "[" + strings.Join(operations, ", ") + "]"
}

// pointers returns the JSON pointers of all parts of a value, except for the fields that
// mutations must not change.
func (m *byModel) pointers(path string, live any) []string {
	var all []string
	if path != "" {
		all = append(all, path)
	}
	switch live := live.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(live)) {
			below := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			if !slices.Contains([]string{"/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"}, below) {
				all = append(all, m.pointers(below, live[name])...)
			} else if below == "/metadata" {
				all = append(all, m.pointers(below, live[name])[1:]...)
			}
		}
	case []any:
		for i := range live {
			all = append(all, m.pointers(fmt.Sprint(path, "/", i), live[i])...)
		}
		all = append(all, path+"/-")
	}
	return all
}
