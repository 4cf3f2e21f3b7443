// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

var (
	overload = regexp.MustCompile(`found no matching overload for '([^']*)' applied to '\(([^']*)\)'`)
	// keyword matches the errors about a field whose name is a keyword of CEL, in selections and in
	// constructors.
	keyword = regexp.MustCompile(`(?:no viable alternative at input '\.|mismatched input '|missing '}' at ')(in|true|false|null)'`)
	// undeclared matches the errors about variables, types and functions that do not exist, and
	// undefined those about fields that do not exist. The submatch is the name.
	undeclared = regexp.MustCompile(`undeclared reference to '([^']+)'`)
	undefined  = regexp.MustCompile(`undefined field '([^']+)'`)
	// called matches the name of a called function, with its namespace or the fields of its target.
	called = regexp.MustCompile(`(\w+(?:\.\w+)*)\s*\(`)
)

// Names makes hints for names in an expression that do not exist at its scope.
type Names struct {
	// Variable returns the hint for a variable or type that does not exist, and Field the hint for
	// a field. They return "" if they have none.
	Variable, Field func(name string) string
	// Selection is the hint for reading a field of a value that has no fields. If it is empty, the
	// hint is about labels and other maps of strings.
	Selection string
}

// Hints returns advice for common mistakes in an expression: what to write instead, each as a
// sentence without a full stop. detail is the text of the type checker's errors.
func Hints(detail, expression string, names Names) []string {
	if unknown := unknownFunctions(detail, expression); len(unknown) > 0 {
		return unknown
	}
	var hints []string
	add := func(hint string) {
		if hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	for _, match := range undeclared.FindAllStringSubmatch(detail, -1) {
		add(names.Variable(match[1]))
	}
	for _, match := range undefined.FindAllStringSubmatch(detail, -1) {
		add(names.Field(match[1]))
	}
	for _, match := range overload.FindAllStringSubmatch(detail, -1) {
		add(overloadHint(match[1], match[2]))
	}
	if match := keyword.FindStringSubmatch(detail); match != nil {
		add("Write __" + match[1] + "__ for a field with the name " + match[1] + ", which is a word of CEL")
	}
	// For a condition that is not a bool, the type checker's message is similar.
	if strings.Contains(detail, "expected type '") && !strings.Contains(detail, "expected type 'bool'") {
		add("The values of a map or list literal have one type: write each as dyn(...) if they differ")
	}
	if strings.Contains(detail, "does not support field selection") {
		add(cmp.Or(names.Selection, "Write keys with dots or slashes in brackets and quotes, such as self.metadata.labels['example.com/zone']"))
	}
	return hints
}

// unknownFunctions returns advice about functions that do not exist in expressions, each as a
// sentence without a full stop. The type checker reports such a function, its namespace and the
// variables of a macro as undeclared names, which must not be taken for misspelt fields.
func unknownFunctions(detail, expression string) []string {
	unknown := map[string]bool{}
	for _, match := range undeclared.FindAllStringSubmatch(detail, -1) {
		unknown[match[1]] = true
	}
	var hints []string
	for _, match := range called.FindAllStringSubmatch(expression, -1) {
		names := strings.Split(match[1], ".")
		function := names[len(names)-1]
		if !unknown[function] {
			continue
		}
		if unknown[names[0]] {
			function = match[1]
		}
		hint := "There is no function " + function
		if function == "cel.bind" {
			hint += ": write [value].map(v, ...)[0] to give a value a name"
		}
		if !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	return hints
}

// overloadHint returns the hint for an operator that is not defined for the types of its operands,
// or "". operands are the types, separated by commas.
func overloadHint(operator, operands string) string {
	types := strings.Split(operands, ", ")
	isNull := func(t string) bool { return t == "null" }
	null := isNull(types[len(types)-1]) || len(types) > 1 && isNull(types[len(types)-2])
	switch {
	case operator == "_?_:_" && null:
		return "null is allowed only as the result of the whole rule. In lists, maps and constructors, leave entries out with optionals: [?self.?spec.?a], {?'k': self.?spec.?a}, Object.spec{?a: self.?spec.?a}; elsewhere, write self.?spec.?a.orValue('')"
	case operator == "_?_:_":
		return "Both results of ?: must have the same type: convert one of them, such as with string(...) or int(...)"
	case (operator == "_==_" || operator == "_!=_") && null:
		return "Fields are unset rather than null: write has(self.spec.a) to ask whether a field is set"
	case operator == "_+_" && strings.Contains(operands, "string"):
		return "Texts can only be joined with texts: write string(...) around the other value"
	case (operator == "_==_" || operator == "_!=_" || operator == "_<_" || operator == "_>_") && len(types) == 2:
		return "Only values of the same type can be compared: convert one of them, such as with string(...) or int(...)"
	default:
		return ""
	}
}

// FieldNames returns the names of all fields in a type, and in the types of its fields, items and
// values. A misspelt name may stand for any of them.
func FieldNames(t *apiservercel.DeclType) []string {
	if t == nil {
		return nil
	}
	names := slices.AppendSeq(FieldNames(t.ElemType), maps.Keys(t.Fields))
	for _, field := range t.Fields {
		names = append(names, FieldNames(field.Type)...)
	}
	return names
}
