// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"fmt"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A generator makes schemas with rules, and values that conform to them.
type generator struct {
	*rand.Rand
	// single limits objects and maps to one entry. Rules are evaluated for the entries in random
	// order, and so are the bodies of macros, which matters for the cost.
	single bool
}

func one[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// schema returns a schema of the given depth at most. About every second node has rules.
func (g *generator) schema(depth int) structuralschema.Structural {
	if depth == 0 {
		return g.ruled(g.scalar())
	}
	switch g.IntN(6) {
	case 0:
		return g.ruled(g.scalar())
	case 1:
		return g.ruled(g.list(depth))
	case 2:
		values := g.schema(depth - 1)
		s := structuralschema.Structural{
			Generic:              structuralschema.Generic{Type: "object"},
			AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &values},
		}
		if g.chance(30) {
			s.XMapType = new(one(g, "granular", "atomic"))
		}
		return g.ruled(s)
	default:
		return g.ruled(g.object(depth))
	}
}

func (g *generator) object(depth int) structuralschema.Structural {
	s := structuralschema.Structural{
		Generic:    structuralschema.Generic{Type: "object"},
		Properties: map[string]structuralschema.Structural{},
	}
	names := []string{"a", "b", "c", "in", "x-y", "with.dot", "Ünicode", "$ref"}
	count := 1 + g.IntN(4)
	if g.single {
		count = 1
	}
	for range count {
		s.Properties[one(g, names...)] = g.schema(depth - 1)
	}
	if g.chance(10) {
		s.XPreserveUnknownFields = true
	}
	if g.chance(10) {
		s.XEmbeddedResource = true
	}
	return s
}

func (g *generator) list(depth int) structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}}
	switch g.IntN(3) {
	case 0:
		items := g.object(depth)
		items.XEmbeddedResource = false
		items.Properties["id"] = structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
		items = g.ruled(items)
		s.Items, s.XListType, s.XListMapKeys = &items, new("map"), []string{"id"}
	case 1:
		items := g.ruled(structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}})
		s.Items, s.XListType = &items, new("set")
	default:
		items := g.schema(depth - 1)
		s.Items = &items
		if g.chance(30) {
			s.XListType = new("atomic")
		}
	}
	return s
}

func (g *generator) scalar() structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: one(g, "string", "string", "integer", "number", "boolean")}}
	switch {
	case g.chance(10):
		s.Type, s.XIntOrString = "", true
	case s.Type == "string" && g.chance(40):
		s.ValueValidation = &structuralschema.ValueValidation{Format: one(g, "date-time", "date", "duration", "byte", "uuid")}
	case s.Type == "string" && g.chance(40):
		s.ValueValidation = &structuralschema.ValueValidation{MaxLength: new(int64(8))}
	}
	s.Nullable = g.chance(15)
	return s
}

// ruled adds rules to a schema, and to value validations in allOf.
func (g *generator) ruled(s structuralschema.Structural) structuralschema.Structural {
	if g.chance(50) {
		s.XValidations = g.rules(&s)
	}
	if g.chance(15) {
		all := structuralschema.NestedValueValidation{ValidationExtensions: structuralschema.ValidationExtensions{XValidations: g.rules(&s)}}
		for name, property := range s.Properties {
			all.Properties = map[string]structuralschema.NestedValueValidation{
				name:      {ValidationExtensions: structuralschema.ValidationExtensions{XValidations: g.rules(&property)}},
				"unknown": {ValidationExtensions: structuralschema.ValidationExtensions{XValidations: g.rules(&property)}},
			}
			break
		}
		if s.Items != nil {
			all.Items = &structuralschema.NestedValueValidation{ValidationExtensions: structuralschema.ValidationExtensions{XValidations: g.rules(s.Items)}}
		}
		if s.ValueValidation == nil {
			s.ValueValidation = &structuralschema.ValueValidation{}
		}
		s.ValueValidation.AllOf = append(s.ValueValidation.AllOf, all)
	}
	return s
}

func (g *generator) rules(s *structuralschema.Structural) (rules apiextensionsv1.ValidationRules) {
	for range 1 + g.IntN(3) {
		rule := apiextensionsv1.ValidationRule{Rule: g.expression(s)}
		if g.chance(20) {
			rule.Rule, rule.OptionalOldSelf = one(g,
				"!oldSelf.hasValue() || oldSelf.value() == self", "oldSelf.hasValue()", "oldSelf.orValue(self) == self", "self == self && false",
			), new(true)
		}
		if g.chance(50) {
			rule.Message = one(g, "message", " message with space ", "m")
		}
		if g.chance(40) {
			rule.MessageExpression = one(g, "'from an expression'", "'type ' + string(type(self) == type(self))", "' '", "'two\\nlines'", "['one'][4]",
				"string(self == oldSelf)", "oldSelf.hasValue() ? 'old' : 'new'", "string(size(self))", "5", "self.unknown", "string(self)")
		}
		if g.chance(30) {
			rule.Reason = new(one(g, apiextensionsv1.FieldValueRequired, apiextensionsv1.FieldValueForbidden, apiextensionsv1.FieldValueDuplicate, apiextensionsv1.FieldValueInvalid))
		}
		if g.chance(30) {
			rule.FieldPath = one(g, ".a", ".b", "['x-y']", "['with.dot']", ".unknown", ".a.b", "not a path")
		}
		rules = append(rules, rule)
	}
	return rules
}

// expression returns a rule for values of a schema. Some rules always fail, fail at run time or do
// not compile.
func (g *generator) expression(s *structuralschema.Structural) string {
	general := []string{"self == self", "self != self", "self == oldSelf", "self != oldSelf", "true", "false", "self.unknown == 1", "self +", "1", " ",
		"1 / 0 == 1", "[self].exists(x, x == self)", "type(self) == type(self)"}
	var own []string
	switch {
	case s.XIntOrString:
		own = []string{"self > 3", "type(self) == int", "self == 5 || self == '50%'", "type(self) == string && self.endsWith('%')", "size(self) > 1"}
	case s.Type == "string" && s.ValueValidation == nil:
		own = []string{"self.size() > 2", "self.startsWith('a')", "self.matches('^[a-c]+$')", "self + oldSelf != 'aa'", "int(self) > 0", "self in ['a', 'bc']", "size(self) < size(oldSelf)"}
	case s.Type == "string":
		own = []string{"string(self).size() > 3", "self == self", "self != oldSelf"}
	case s.Type == "integer":
		own = []string{"self > 0", "10 / self > 1", "self >= oldSelf", "self * 4611686018427387904 > 0", "self in [1, 2, 3]", "double(self) > 0.5"}
	case s.Type == "number":
		own = []string{"self > 0.5", "self >= oldSelf", "int(self) > 0", "self > 1"}
	case s.Type == "boolean":
		own = []string{"self", "!self", "self || oldSelf", "!(self && oldSelf)"}
	case s.Type == "array":
		own = []string{"self.size() < 2", "self.all(x, self.exists(y, x == y))", "self[1] == self[0]", "self.exists_one(x, x == self[0])",
			"self.map(x, x).size() == self.size()", "self.all(x, x in oldSelf)", "oldSelf.all(x, x in self)", "self + oldSelf == self",
			"self.all(a, self.all(b, self.all(c, self.all(d, a == a || b == c || c == d))))"}
	case s.AdditionalProperties != nil:
		own = []string{"'k' in self", "self['k'] == self['k']", "size(self) > 1", "self.?k.hasValue()", "'k' in oldSelf"}
		if g.single {
			own = append(own, "self.all(k, k.size() < 2)", "self.all(k, k in oldSelf)", "self.exists(k, self[k] == self[k])")
		}
	default:
		for name := range s.Properties {
			if name = escaped[name]; name == "" {
				continue
			}
			own = append(own, fmt.Sprintf("has(self.%s)", name), fmt.Sprintf("!has(self.%[1]s) || self.%[1]s == oldSelf.%[1]s", name),
				fmt.Sprintf("self.%[1]s == self.%[1]s", name), fmt.Sprintf("self.?%[1]s == self.?%[1]s", name), fmt.Sprintf("self.%s != oldSelf.?%[1]s.orValue(self.%[1]s)", name))
		}
		own = append(own, "self.metadata.name == 'n'", "self.kind == 'K' || self.apiVersion == 'v'", "has(self.metadata) && has(self.metadata.name)")
		if g.chance(50) {
			own = overFields
		}
	}
	if g.chance(25) {
		return one(g, general...)
	}
	return one(g, own...)
}

// escaped holds the names of properties in expressions. A property without one cannot be named.
var escaped = map[string]string{"a": "a", "b": "b", "c": "c", "id": "id", "in": "__in__", "x-y": "x__dash__y", "with.dot": "with__dot__dot"}

// overFields are rules that iterate over the fields of an object, unknown ones included. Their
// results do not depend on the order of the known fields.
var overFields = []string{
	"dyn(self).map(k, k).size() == 1", "dyn(self).map(k, k).size() == dyn(self).size()", "dyn(self).map(k, 1).size() < 3", "dyn(self).map(k, dyn(self)[k]).size() == 1", "dyn(self).map(k, [k])[0][0] != null",
	"dyn(self).filter(k, k == null).size() == 0", "dyn(self).filter(k, true).size() == 1", "dyn(self).filter(k, k in dyn(oldSelf)).size() == 1",
	"dyn(self).all(k, k != null)", "dyn(self).all(k, type(k) == string)", "dyn(self).all(k, k.size() > 0)", "dyn(self).exists(k, k == null)", "dyn(self).exists(k, k.startsWith('unk'))", "dyn(self).exists_one(k, k == null)",
	"dyn(self).all(k, v, true)", "dyn(self).all(k, v, k != null)", "dyn(self).exists(k, v, k == null)", "dyn(self).existsOne(k, v, k == null)",
	"dyn(self).transformList(k, v, k).size() == 1", "dyn(self).transformList(k, v, v).size() == 1", "dyn(self).transformMap(k, v, 1).size() == 1", "dyn(self).transformMapEntry(k, v, {k: 1}).size() == 1",
	"'unknown' in dyn(self)", "has(dyn(self).unknown)", "dyn(self).unknown == 1", "dyn(self).?unknown.hasValue()", "dyn(self) == dyn(oldSelf)", "[self] == [oldSelf]", "dyn(self) in [dyn(oldSelf)]", "dyn(self) == {'a': 1}",
	"[dyn(self), dyn(oldSelf)].all(o, o.all(k, k != null))", "dyn(self).map(k, dyn(self).map(l, k == l).size()).size() == 1",
}
