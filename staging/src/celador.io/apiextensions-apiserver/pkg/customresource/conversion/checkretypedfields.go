// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// checkRetypedFields returns an error for each field that both versions have with types that do not
// agree, unless a rule sets it. Conversion copies other fields, but not such a value.
func (c *checkedRules) checkRetypedFields() field.ErrorList {
	var errs field.ErrorList
	for _, r := range compareIdentity(c.edge.from.schema, c.edge.to.schema).retypedFields {
		if slices.ContainsFunc(c.rules, func(rule *compiledRule) bool { return rule.determines(&r) }) {
			continue
		}
		unset := "; the rule null leaves the field unset"
		if n := len(r.path) - 1; r.path[n].Each && c.edge.isList(r.path[:n]) {
			unset = "" // Items cannot be unset.
		}
		errs = append(errs, field.Required(c.path, fmt.Sprintf("%s is %s in version %s and %s in version %s, and no rule sets it. Add a rule that converts the value%s%s",
			r.path, ruleresult.Describe(r.source), c.edge.from.name, ruleresult.Describe(r.target), c.edge.to.name, r.example(), unset)))
	}
	return errs
}

// determines reports whether the rule sets the retyped field in every object. If the rule
// constructs an object above the field, the object must name the field: a constructed object is
// merged into the existing one, where a field that it does not name keeps its value, but a retyped
// field has no value to keep.
func (r *compiledRule) determines(retyped *retypedField) bool {
	path := r.path()
	return retyped.covers(path) && (len(path) >= len(retyped.path) || r.expression.SetsField(names(retyped.path[len(path):])))
}

// names returns the names of the segments of a path, to be compared with the names of the fields
// that a rule constructs. For [*], the name is empty, so it equals none of these.
func names(path rulepath.Path) []string {
	names := make([]string, len(path))
	for i, step := range path {
		names[i] = step.Name
	}
	return names
}

// scalarConversions holds expressions that convert a scalar v, by its type and the type of the
// result. Errors suggest them.
var scalarConversions = map[[2]string]string{
	{intOrString, "integer"}: "int(v)",
	{intOrString, "string"}:  "string(v)",
	{"integer", "string"}:    "string(v)",
	{"number", "string"}:     "string(v)",
	{"boolean", "string"}:    "string(v)",
	{"string", "integer"}:    "int(v)",
	{"string", "number"}:     "double(v)",
	{"string", "boolean"}:    "v == 'true'",
	{"number", "integer"}:    "int(v)",
	{"boolean", "integer"}:   "v ? 1 : 0",
	{"integer", "boolean"}:   "v != 0",
}

const intOrString = "integer or string"

func scalarType(s *structuralschema.Structural) string {
	if s.XIntOrString {
		return intOrString
	}
	return s.Type
}

// example returns a part of an error text that suggests a rule for the field, if both types are
// scalars, or if the value becomes the item of a list. Otherwise it returns "".
func (r *retypedField) example() string {
	last := lastEach(r.path)
	scope, name := r.path[:last+1], r.path[last+1:]
	conversion, ok := scalarConversions[[2]string{scalarType(r.source), r.target.Type}]
	switch {
	case ok:
	case r.target.Items != nil && r.source.Type == r.target.Items.Type && r.source.Type != "object" && r.source.Type != "array":
		conversion = "[v]"
	default:
		return ""
	}
	var fields []string
	if len(scope) > 0 {
		fields = append(fields, fmt.Sprintf("scope: %q", scope))
	}
	rule := strings.ReplaceAll(conversion, "v", "self")
	if len(name) > 0 {
		read, ok := optionalRead(name)
		if !ok {
			return ""
		}
		fields = append(fields, fmt.Sprintf("field: %q", name))
		rule = fmt.Sprintf("%s.optMap(v, %s)", read, conversion)
	}
	fields = append(fields, fmt.Sprintf("rule: %q", rule))
	return fmt.Sprintf(", such as {%s}", strings.Join(fields, ", "))
}

// optionalRead returns an expression that reads a field of self that may be missing. It returns
// false if an expression cannot spell a name in the path.
func optionalRead(path rulepath.Path) (string, bool) {
	text := "self"
	for _, step := range path {
		name, ok := apiservercel.Escape(step.Name)
		if !ok {
			return "", false
		}
		text += ".?" + name
	}
	return text, true
}
