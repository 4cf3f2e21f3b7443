// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/admission/spelling"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// hints makes suggestions for names in an expression that the type checker does not know: what to
// write instead.
type hints struct {
	// scope is the text of the rule's scope, and self the type of the values there.
	scope string
	self  *apiservercel.DeclType
	// root is the type of the object.
	root *apiservercel.DeclType
	// target is the schema of the version that is converted to, whose fields constructors have. to
	// is the name of the version.
	target *structuralschema.Structural
	to     string
	// shared declares the variables that the rule can read as fields of variables. tables declares
	// the tables that it can read as fields of tables and of inverted.
	shared *schemaexpression.Shared
	tables *tables
}

// of returns suggestions for an expression. detail is the text of the type checker's errors.
func (h hints) of(detail, expression string) []string {
	names := ruleerror.Names{Variable: h.variable, Field: func(name string) string { return h.field(name, detail) }}
	if h.scope != "" {
		names.Selection = h.notRoot()
	}
	return ruleerror.Hints(detail, expression, names)
}

// variable returns a hint for a variable, or a constructor, that does not exist, or "".
func (h hints) variable(name string) string {
	if strings.HasPrefix(name, ruleresult.ObjectType+".") {
		return fmt.Sprintf("Version %s has no object at %s. Constructors have the paths of objects of that version: Object.spec.a{...} constructs spec.a, or an item or value if spec.a is a list or map",
			h.to, strings.TrimPrefix(name, ruleresult.ObjectType+"."))
	}
	if name == "oldSelf" || name == "object" || name == "oldObject" {
		return fmt.Sprintf("There is no %s: self is the object to convert, or the value at scope in it", name)
	}
	if _, ok := h.self.FindField(name); ok {
		return fmt.Sprintf("Fields are read through self: write self.%s", name)
	}
	if _, ok := h.root.FindField(name); ok && h.scope != "" {
		return fmt.Sprintf("The rule has the scope %s, where self has no field %s. To read other parts of the object, write root.%s", h.scope, name, name)
	}
	if name == indexName {
		return "index is the index or key of the entry that the last [*] of the scope stands for: this rule has no [*] in its scope"
	}
	if near := h.nearest(name, false); near != "" {
		return fmt.Sprintf("Fields are read through self: did you mean self.%s?", near)
	}
	return ""
}

// field returns a hint for a field that does not exist, or "". detail is the error of the type
// checker, which repeats the line of the expression.
func (h hints) field(name, detail string) string {
	if hiddenMetadata[name] && strings.Contains(detail, "metadata."+name) {
		return "Of metadata, rules can read name, generateName, namespace, labels and annotations"
	}
	if hint, ok := h.namespaced(name, detail); ok {
		return hint
	}
	if _, ok := h.root.FindField(name); ok && h.scope != "" {
		return h.notRoot()
	}
	if hint := h.escaped(name); hint != "" {
		return hint
	}
	switch near := h.nearest(name, true); near {
	case "":
	case name:
		return fmt.Sprintf("There are fields %q in other places. self has the fields of the version that is converted, constructors those of version %s", name, h.to)
	default:
		return fmt.Sprintf("Did you mean %q instead of %q?", near, name)
	}
	return ""
}

func (h hints) notRoot() string {
	return fmt.Sprintf("self is the value at the scope %s, not the whole object, which is root", h.scope)
}

// namespaced returns a hint for a field of variables, tables or inverted that does not exist. It
// returns false if the expression reads no field of that name from one of them.
func (h hints) namespaced(name, detail string) (string, bool) {
	for _, namespace := range []struct {
		name, what string
		fields     iter.Seq[string]
	}{
		{schemaexpression.Variables, "variable", h.shared.Names()},
		{tablesName, "table", maps.Keys(h.tables.forward.Fields)},
		{invertedName, "table", maps.Keys(h.tables.inverted.Fields)},
	} {
		if !regexp.MustCompile(`\b` + namespace.name + `\s*\.\s*` + regexp.QuoteMeta(name) + `\b`).MatchString(detail) {
			continue
		}
		if keys, ok := h.tables.shared[name]; ok && namespace.name == invertedName {
			return fmt.Sprintf("The table %s cannot be inverted, because its keys %q and %q have the same value: give them different values, or write a conditional", name, keys[0], keys[1]), true
		}
		if near := spelling.Nearest(name, namespace.fields); near != "" {
			return fmt.Sprintf("Did you mean %s.%s instead of %s.%s?", namespace.name, near, namespace.name, name), true
		}
		if known := ruleschema.ListNames(namespace.fields); known != "" {
			return fmt.Sprintf("There is no %s %s: the expression can read %s", namespace.what, name, known), true
		}
		return fmt.Sprintf("There is no %s that the expression can read", namespace.what), true
	}
	return "", false
}

// escaped returns a hint for a field whose name has a character that is an operator of CEL, such as
// x-prop, or "". start is the name in the type checker's error, which ends before the character.
func (h hints) escaped(start string) string {
	hint := ""
	for _, field := range ruleerror.FieldNames(h.self) {
		name, ok := apiservercel.Unescape(field)
		if rest, isStart := strings.CutPrefix(name, start); ok && isStart && name != field && rest != "" && !isIdentifier(rest[0]) {
			hint = fmt.Sprintf("Write %s for the field %q", field, name)
		}
	}
	return hint
}

func isIdentifier(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

var hiddenMetadata = map[string]bool{
	"uid": true, "resourceVersion": true, "generation": true, "creationTimestamp": true, "deletionTimestamp": true,
	"deletionGracePeriodSeconds": true, "finalizers": true, "ownerReferences": true, "managedFields": true, "selfLink": true,
}

// nearest returns the name that the given one was probably meant to be: that of a field anywhere in
// self or, if constructors is set, of a field of a constructor. It returns "" if there is none.
func (h hints) nearest(name string, constructors bool) string {
	fields := ruleerror.FieldNames(h.self)
	if constructors {
		fields = append(fields, constructorFields(h.target)...)
	}
	return spelling.Nearest(name, slices.Values(fields))
}

// constructorFields returns the names of all properties in a schema, as expressions write them.
func constructorFields(s *structuralschema.Structural) []string {
	if s == nil {
		return nil
	}
	names := append(constructorFields(s.Items), constructorFields(ruleschema.Values(s))...)
	for name, property := range s.Properties {
		if escaped, ok := apiservercel.Escape(name); ok {
			names = append(names, escaped)
		}
		names = append(names, constructorFields(&property)...)
	}
	return names
}
