// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A checker finds out from the static type of an expression whether its values fit the schema of a
// field, before any value is known.
type checker struct {
	types *ObjectTypes
	self  *apiservercel.DeclType
	// declared holds the object types that self contains, by name. Nil until one is looked up.
	declared map[string]*apiservercel.DeclType
}

// check returns nil if a value of type t can be the value of a field with a schema.
func (c *checker) check(t *cel.Type, to *structuralschema.Structural) *mismatch {
	t = Held(t)
	switch t.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind, types.NullTypeKind, types.ErrorKind:
		return nil
	case types.TypeKind:
		return c.mismatch(t, to)
	}
	switch {
	case to.XIntOrString:
		return c.require(t, to, types.IntKind, types.UintKind, types.StringKind)
	case to.Type == "string":
		if t.Kind() == formats[formatOf(to)].read.Kind() {
			return nil
		}
		// The type does not say whether a string has the right format. Assign checks that.
		return c.require(t, to, types.StringKind)
	case to.Type == "integer":
		return c.require(t, to, types.IntKind, types.UintKind)
	case to.Type == "number":
		return c.require(t, to, types.IntKind, types.UintKind, types.DoubleKind)
	case to.Type == "boolean":
		return c.require(t, to, types.BoolKind)
	case to.Type == "array" && t.Kind() == types.ListKind && to.Items != nil:
		return c.check(t.Parameters()[0], to.Items).below(rulepath.Segment{Each: true})
	case to.Type == "object":
		return c.checkObject(t, to)
	case IsAny(to):
		if _, ok := c.fields(t); t.Kind() == types.OpaqueKind || t.Kind() == types.StructKind && !ok {
			return c.mismatch(t, to)
		}
		return nil
	default:
		return c.mismatch(t, to)
	}
}

func (c *checker) require(t *cel.Type, to *structuralschema.Structural, kinds ...types.Kind) *mismatch {
	if slices.Contains(kinds, t.Kind()) {
		return nil
	}
	return c.mismatch(t, to)
}

func (c *checker) checkObject(t *cel.Type, to *structuralschema.Structural) *mismatch {
	values := ruleschema.Values(to)
	isMap := values != nil
	switch t.Kind() {
	case types.MapKind:
		key, value := Held(t.Parameters()[0]), Held(t.Parameters()[1])
		switch {
		case key.Kind() != types.StringKind && key.Kind() != types.DynKind && key.Kind() != types.TypeParamKind:
			return c.mismatch(t, to)
		case isMap:
			return c.check(value, values).below(rulepath.Segment{Each: true})
		case len(to.Properties) == 0 || value.Kind() == types.DynKind || value.Kind() == types.TypeParamKind:
			return nil
		default:
			return c.mismatch(t, to)
		}
	case types.StructKind:
		fields, ok := c.fields(t)
		if !ok {
			return c.mismatch(t, to)
		}
		if !isMap && !PreservesUnknown(to) && !c.leavesOpen(t) && len(fields) > 0 && len(to.Properties) > 0 && !haveCommon(fields, to) {
			m := c.mismatch(t, to)
			m.want, m.advice = "an object with other fields ("+ruleschema.ListNames(maps.Keys(to.Properties))+")", "construct the object with "+c.constructor(to)+"{...}, for the items of a list in .map(i, ...)"
			return m
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			property, ok := apiservercel.Unescape(name)
			if !ok {
				continue
			}
			target, ok := to.Properties[property]
			if isMap {
				target, ok = *values, true
			}
			if !ok {
				continue // Pruning removes the field, or the schema says nothing about it.
			}
			if m := c.check(fields[name], &target).below(rulepath.Segment{Name: property}); m != nil {
				return m
			}
		}
		return nil
	default:
		return c.mismatch(t, to)
	}
}

// leavesOpen reports whether objects of a type in self have fields that it does not declare.
func (c *checker) leavesOpen(t *cel.Type) bool {
	declared, ok := c.declared[t.TypeName()]
	return ok && schemaexpression.LeavesOpen(declared)
}

// haveCommon reports whether an object has a field that a schema declares.
func haveCommon(fields map[string]*cel.Type, to *structuralschema.Structural) bool {
	for name := range fields {
		if property, ok := apiservercel.Unescape(name); ok {
			if _, ok := to.Properties[property]; ok {
				return true
			}
		}
	}
	return false
}

// constructor returns the name of the type that constructs objects of a schema, such as
// Object.spec. If several types have equal schemas, it is the first name in alphabetical order.
func (c *checker) constructor(to *structuralschema.Structural) string {
	for _, name := range slices.Sorted(maps.Keys(c.types.byName)) {
		if reflect.DeepEqual(c.types.byName[name].schema, to) {
			return name
		}
	}
	return anyConstructor
}

// anyConstructor stands in an advice for the name of the constructor. The checker replaces it by
// the name if it knows that.
const anyConstructor = "Object.<path of the field>"

// fields returns the fields of an object type, by their names in expressions. It returns false for
// a type that neither self contains nor rules construct.
func (c *checker) fields(t *cel.Type) (map[string]*cel.Type, bool) {
	name := t.TypeName()
	fields := map[string]*cel.Type{}
	if constructed, ok := c.types.byName[name]; ok {
		for property, schema := range constructed.schema.Properties {
			if escaped, ok := apiservercel.Escape(property); ok {
				fields[escaped] = constructedType(name+"."+escaped, &schema)
			}
		}
		return fields, true
	}
	if c.declared == nil {
		c.declared = map[string]*apiservercel.DeclType{}
		if c.self != nil {
			c.declared = apiservercel.FieldTypeMap(c.self.TypeName(), c.self)
		}
	}
	declared, ok := c.declared[name]
	if !ok || !declared.IsObject() {
		return nil, false
	}
	for name, field := range declared.Fields {
		fields[name] = field.Type.CelType()
	}
	return fields, true
}

// constructedType returns the type that a field of a constructed object has. name is the name of
// that type if the field is an object.
func constructedType(name string, s *structuralschema.Structural) *cel.Type {
	switch {
	case s.XIntOrString:
		return types.DynType
	case s.Type == "integer":
		return types.IntType
	case s.Type == "number":
		return types.DoubleType
	case s.Type == "boolean":
		return types.BoolType
	case s.Type == "string":
		return formats[formatOf(s)].read
	case s.Type == "array" && s.Items != nil:
		return types.NewListType(constructedType(name, s.Items))
	case s.Type == "object" && ruleschema.Values(s) != nil:
		return types.NewMapType(types.StringType, constructedType(name, ruleschema.Values(s)))
	case s.Type == "object" && len(s.Properties) > 0:
		return types.NewObjectType(name)
	default:
		return types.DynType
	}
}

// Held returns the type of the value in an optional. It returns t itself if that is not an
// optional.
func Held(t *cel.Type) *cel.Type {
	for t.Kind() == types.OpaqueKind && t.TypeName() == types.OptionalType.TypeName() {
		t = t.Parameters()[0]
	}
	return t
}

func (c *checker) mismatch(t *cel.Type, to *structuralschema.Structural) *mismatch {
	text := advice(t, to)
	if strings.Contains(text, anyConstructor) {
		text = strings.ReplaceAll(text, anyConstructor, c.constructor(to))
	}
	return &mismatch{got: describeType(t), want: Describe(to), advice: text}
}

// describeType describes a static type.
func describeType(t *cel.Type) string {
	if t.Kind() == types.StructKind && !isLibrary(t) {
		name, path, nested := strings.Cut(t.TypeName(), ".")
		switch {
		case name == ObjectType:
			return "an " + t.TypeName()
		case !nested:
			return "an object like self"
		default:
			// The name of an object type in self is its path in the object.
			return "an object like " + entryNames.Replace(path)
		}
	}
	return protobufNames.Replace(t.String())
}

// entryNames turns the type name of an object in self into its path, for errors. Kubernetes names
// the types of list items and map values with .@idx and .@elem, which are written [*] in paths.
var entryNames = strings.NewReplacer(".@idx", "[*]", ".@elem", "[*]")

// protobufNames replaces the protobuf names of types by the names that expressions have for them.
var protobufNames = strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration")

// isLibrary reports whether a type is one of a CEL library of Kubernetes, such as
// kubernetes.Quantity and net.IP.
func isLibrary(t *cel.Type) bool {
	return strings.HasPrefix(t.TypeName(), "kubernetes.") || strings.HasPrefix(t.TypeName(), "net.")
}

// advice returns what to write so that a value of type t fits a schema, or "" if nothing is likely.
func advice(t *cel.Type, to *structuralschema.Structural) string {
	kind := t.Kind()
	switch {
	case isLibrary(t):
		return "return the text that it was made from, or what one of its functions returns"
	case kind == types.TypeKind:
		return "a type is not a value that can be stored"
	case kind == types.ListKind && to.Type != "array":
		return "select one item, such as the one at [0], or build the value from the items"
	case to.Type == "array" && kind == types.MapKind:
		return "write .map(k, …), which makes a list from the keys of a map"
	case to.Type == "array":
		return "write [...] to make a list of it"
	case to.Type == "object" && kind == types.MapKind && len(to.Properties) > 0:
		return "construct the object with " + anyConstructor + "{...}"
	case to.Type == "object" && kind == types.MapKind:
		return "the keys of a map must be strings: write string(...) for the keys"
	case to.Type == "object":
		if len(to.Properties) > 0 {
			return "construct the object with " + anyConstructor + "{...}"
		}
		return "write the map as {...}"
	case kind == types.StructKind || kind == types.MapKind:
		return "select the field that you want, such as self.spec.replicas"
	}
	return adviceForScalars(kind, to)
}

func adviceForScalars(kind types.Kind, to *structuralschema.Structural) string {
	switch {
	case to.XIntOrString && kind == types.DoubleKind:
		return "write int(...) or string(...)"
	case to.XIntOrString:
		return "write string(...)"
	case to.Type == "integer" && kind == types.BoolKind, to.Type == "number" && kind == types.BoolKind:
		return "write ... ? 1 : 0"
	case to.Type == "integer" && kind == types.DurationKind:
		return "write .getSeconds() or .getMilliseconds()"
	case to.Type == "integer":
		return "write int(...)"
	case to.Type == "number":
		return "write double(...)"
	case to.Type == "boolean" && kind == types.StringKind:
		return "write bool(...), or compare it, such as ... == 'yes'"
	case to.Type == "boolean":
		return "compare it, such as ... != 0"
	case formatOf(to) == formatDuration && (kind == types.IntKind || kind == types.UintKind):
		return "write duration(string(...) + 's') for seconds"
	case formatOf(to) != "":
		return "write " + formats[formatOf(to)].function + "(...)"
	case kind == types.TimestampKind:
		return "write string(...), or declare the format date-time in the schema"
	case kind == types.BytesKind:
		return "write string(...) if the bytes are text, or declare the format byte in the schema"
	default:
		return "write string(...)"
	}
}
