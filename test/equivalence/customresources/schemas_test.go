// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"fmt"
	"maps"
	"slices"

	"celador.io/celador/test/equivalence/harness"
)

type generator struct{ harness.Generator }

// definition returns a generated CustomResourceDefinition. Servers refuse some of them.
func (g *generator) definition(number int) definition {
	singular := fmt.Sprintf("thing%d", number)
	group := fmt.Sprintf("g%d.example.com", number/4)
	names := map[string]any{"plural": singular + "s", "singular": singular, "kind": fmt.Sprintf("Thing%d", number)}
	if g.Chance(50) {
		names["shortNames"] = []any{fmt.Sprintf("t%d", number)}
	}
	if g.Chance(40) {
		names["categories"] = []any{"all", "things"}
	}
	if g.Chance(30) {
		names["listKind"] = fmt.Sprintf("Thing%dCollection", number)
	}
	spec := map[string]any{"group": group, "names": names, "scope": harness.Pick(g, "Namespaced", "Namespaced", "Cluster")}
	count := 1 + g.IntN(3)
	storage := g.IntN(count)
	var versions []any
	first := g.root()
	for i := range count {
		root := first
		if i > 0 {
			root = g.variant(first)
		}
		versions = append(versions, g.version([]string{"v1", "v1beta1", "v2alpha1"}[i], i == storage, i == 0 || !g.Chance(20), root))
	}
	spec["versions"] = versions
	switch {
	case count > 1 && g.Chance(35):
		spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{harness.Pick(g, "v1", "v1beta1")},
			"clientConfig":             map[string]any{"url": webhookURL, "caBundle": webhookCA},
		}}
	case g.Chance(30):
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
	return definition{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": singular + "s." + group}, "spec": spec,
	}
}

func (g *generator) version(name string, storage, served bool, root map[string]any) map[string]any {
	v := map[string]any{"name": name, "storage": storage, "served": served, "schema": map[string]any{"openAPIV3Schema": root}}
	if g.Chance(20) {
		v["deprecated"] = true
		if g.Chance(50) {
			v["deprecationWarning"] = `version "` + name + `" is old, \ use another`
		}
	}
	subresources := map[string]any{}
	if g.Chance(60) {
		subresources["status"] = map[string]any{}
	}
	if g.Chance(40) {
		scale := map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
		if g.Chance(50) {
			scale["labelSelectorPath"] = ".status.selector"
		}
		subresources["scale"] = scale
	}
	if len(subresources) > 0 {
		v["subresources"] = subresources
	}
	fields := object(root, "properties", "spec", "properties")
	leaves := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(name string) bool {
		return !slices.Contains([]string{"string", "integer", "boolean"}, text(fields[name], "type"))
	})
	if len(leaves) > 0 && g.Chance(40) {
		var selectable []any
		for _, leaf := range leaves[:1+g.IntN(min(3, len(leaves)))] {
			selectable = append(selectable, map[string]any{"jsonPath": ".spec." + leaf})
		}
		v["selectableFields"] = selectable
	}
	if g.Chance(50) {
		var columns []any
		for i := range 1 + g.IntN(4) {
			column := map[string]any{
				"name": fmt.Sprintf("Column%d", i), "type": harness.Pick(g, "string", "integer", "number", "boolean", "date"),
				"jsonPath": harness.Pick(g, ".metadata.creationTimestamp", ".metadata.labels.tier", ".spec.f0", ".spec.f1", ".spec.f2", ".spec.f1[*]", ".spec.f0.f0", ".status.f0", ".status.replicas", ".spec.nothing", ".kind"),
			}
			if g.Chance(30) {
				column["priority"] = 1
			}
			if g.Chance(30) {
				column["description"] = "What stands there."
				column["format"] = harness.Pick(g, "int32", "date", "date-time")
			}
			columns = append(columns, column)
		}
		v["additionalPrinterColumns"] = columns
	}
	return v
}

// root returns the schema of an object with spec and status.
func (g *generator) root() map[string]any {
	spec, status := g.objectSchema(3), g.objectSchema(1)
	if g.Chance(60) {
		spec["properties"].(map[string]any)["replicas"] = map[string]any{"type": "integer", "minimum": 0, "maximum": 100}
		status["properties"].(map[string]any)["replicas"] = map[string]any{"type": "integer"}
		status["properties"].(map[string]any)["selector"] = map[string]any{"type": "string"}
	}
	properties := map[string]any{"spec": spec, "status": status}
	if g.Chance(20) {
		properties["metadata"] = map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": 12}}}
	}
	if g.Chance(20) {
		properties["data"] = g.anySchema(1)
	}
	root := map[string]any{"type": "object", "properties": properties}
	if g.Chance(15) {
		root["required"] = []any{"spec"}
	}
	if g.Chance(10) {
		root["x-kubernetes-preserve-unknown-fields"] = true
	}
	if g.Chance(20) {
		root["x-kubernetes-validations"] = []any{map[string]any{"rule": "self.metadata.name != 'forbidden'", "message": "not this name"}}
	}
	return root
}

// variant returns a schema in which something differs.
func (g *generator) variant(root map[string]any) map[string]any {
	root = clone(root)
	fields := object(root, "properties", "spec", "properties")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case g.Chance(10):
			delete(fields, name)
			delete(object(root, "properties", "spec"), "required")
			delete(object(root, "properties", "spec"), "x-kubernetes-validations")
		case g.Chance(10):
			fields[name+"x"] = g.anySchema(1)
		}
	}
	return root
}

// anySchema returns a structural schema with at most the given depth below it.
func (g *generator) anySchema(depth int) map[string]any {
	leaves := []func() map[string]any{
		g.stringSchema, g.stringSchema, g.integerSchema, g.numberSchema,
		func() map[string]any { return g.withDefault(map[string]any{"type": "boolean"}) },
		func() map[string]any { return g.withDefault(map[string]any{"x-kubernetes-int-or-string": true}) },
		func() map[string]any {
			return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		},
		func() map[string]any { return map[string]any{"x-kubernetes-preserve-unknown-fields": true} },
		func() map[string]any {
			return map[string]any{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
		},
	}
	inner := []func() map[string]any{
		func() map[string]any { return g.objectSchema(depth - 1) },
		func() map[string]any { return g.mapSchema(depth - 1) },
		func() map[string]any { return g.listSchema(depth - 1) },
		func() map[string]any { return g.listSchema(depth - 1) },
	}
	var s map[string]any
	if depth > 0 && g.Chance(45) {
		s = harness.Pick(g, inner...)()
	} else {
		s = harness.Pick(g, leaves...)()
	}
	if g.Chance(10) {
		s["nullable"] = true
	}
	if g.Chance(10) {
		s["description"] = "Some words, \"quoted\" <b>."
	}
	return s
}

func (g *generator) withDefault(s map[string]any) map[string]any {
	if g.Chance(25) {
		v := &values{Generator: g.Generator}
		if s["x-kubernetes-validations"] == nil {
			s["default"] = v.value(s)
		}
	}
	return s
}

func (g *generator) rules(s map[string]any, percent int, rules ...string) {
	if !g.Chance(percent) {
		return
	}
	var validations []any
	for range 1 + g.IntN(2) {
		rule := map[string]any{"rule": harness.Pick(g, rules...)}
		switch g.IntN(4) {
		case 0:
			rule["message"] = "it is not so"
		case 1:
			rule["messageExpression"] = "'it is ' + (1 == 1 ? 'not' : '') + ' so'"
		}
		if g.Chance(20) {
			rule["reason"] = harness.Pick(g, "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", "FieldValueInvalid")
		}
		if rule["rule"] == optionalOld {
			rule["optionalOldSelf"] = true
		}
		validations = append(validations, rule)
	}
	s["x-kubernetes-validations"] = validations
}

const optionalOld = "!oldSelf.hasValue() || self >= oldSelf.value()"

func (g *generator) stringSchema() map[string]any {
	s := map[string]any{"type": "string", "maxLength": 30}
	switch g.IntN(6) {
	case 0:
		s["enum"] = []any{"a", "b", "c"}
	case 1:
		s["pattern"] = "^[a-z]+$"
	case 2:
		s["format"] = harness.Pick(g, "date-time", "ipv4", "byte", "duration", "uuid", "email", "strange")
	case 3:
		s["minLength"] = 2
	}
	g.rules(s, 20, "self != 'bad'", "self == oldSelf", "self.startsWith('a') || size(self) < 6", optionalOld)
	return g.withDefault(s)
}

func (g *generator) integerSchema() map[string]any {
	s := map[string]any{"type": "integer"}
	if g.Chance(30) {
		s["format"] = harness.Pick(g, "int32", "int64")
	}
	if g.Chance(40) {
		s["minimum"], s["maximum"] = 0, 50
		s["exclusiveMaximum"] = g.Chance(30)
	}
	if g.Chance(10) {
		s["multipleOf"] = 3
	}
	g.rules(s, 20, "self >= 0", "self >= oldSelf", "self != 13", optionalOld)
	return g.withDefault(s)
}

func (g *generator) numberSchema() map[string]any {
	s := map[string]any{"type": "number"}
	if g.Chance(30) {
		s["format"] = harness.Pick(g, "float", "double")
	}
	return g.withDefault(s)
}

func (g *generator) objectSchema(depth int) map[string]any {
	properties := map[string]any{}
	for i := range 1 + g.IntN(4) {
		properties[fmt.Sprintf("f%d", i)] = g.anySchema(depth)
	}
	s := map[string]any{"type": "object", "properties": properties}
	if g.Chance(15) {
		s["required"] = []any{"f0"}
	}
	if g.Chance(10) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if g.Chance(10) {
		s["x-kubernetes-map-type"] = harness.Pick(g, "atomic", "granular")
	}
	if g.Chance(10) {
		s["maxProperties"] = 3
	}
	if g.Chance(10) {
		s[harness.Pick(g, "anyOf", "oneOf")] = []any{map[string]any{"required": []any{"f0"}}, map[string]any{"required": []any{"f1"}}}
	}
	if g.Chance(5) {
		s["not"] = map[string]any{"required": []any{"f0", "f1"}}
	}
	rules := []string{"has(self.f0)", "!has(oldSelf.f0) || has(self.f0)", "!has(self.f1) || has(self.f0)"}
	if len(properties) == 1 {
		rules = rules[:2]
	}
	// Rules do not see fields without a type.
	if typed(properties["f0"]) && (len(properties) == 1 || typed(properties["f1"])) {
		g.rules(s, 15, rules...)
	}
	if g.Chance(10) && s["required"] == nil && s["anyOf"] == nil && s["oneOf"] == nil && s["x-kubernetes-validations"] == nil {
		s["default"] = map[string]any{}
	}
	return s
}

// typed reports whether a schema has a type.
func typed(schema any) bool {
	return text(schema, "type") != "" || at(schema, "x-kubernetes-int-or-string") == true
}

func (g *generator) mapSchema(depth int) map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": g.anySchema(depth)}
	if g.Chance(30) {
		s["maxProperties"] = 4
	}
	return s
}

func (g *generator) listSchema(depth int) map[string]any {
	s := map[string]any{"type": "array", "maxItems": 4}
	switch g.IntN(5) {
	case 0:
		s["x-kubernetes-list-type"] = "set"
		s["items"] = map[string]any{"type": harness.Pick(g, "string", "integer")}
	case 1, 2:
		item := g.objectSchema(depth)
		delete(item, "default")
		delete(item, "x-kubernetes-map-type")
		item["properties"].(map[string]any)["name"] = map[string]any{"type": "string", "maxLength": 20}
		item["properties"].(map[string]any)["port"] = map[string]any{"type": "integer", "default": 80}
		item["required"] = []any{"name"}
		s["items"], s["x-kubernetes-list-type"] = item, "map"
		s["x-kubernetes-list-map-keys"] = harness.Pick(g, []any{"name"}, []any{"name", "port"})
	case 3:
		s["items"], s["x-kubernetes-list-type"] = g.anySchema(depth), "atomic"
	default:
		s["items"] = g.anySchema(depth)
	}
	g.rules(s, 15, "size(self) < 3", "size(self) >= size(oldSelf)")
	if g.Chance(10) {
		s["default"] = []any{}
	}
	return s
}
