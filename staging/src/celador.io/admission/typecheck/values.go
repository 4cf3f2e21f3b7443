// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"cmp"
	"fmt"
	"iter"
	"maps"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/internal/locations"
	"celador.io/admission/modelschema"
	"celador.io/admission/policyspec"
	"celador.io/admission/spelling"
)

// has reports whether objects of the type may have values in a scope. They may if the schema is not
// known.
func (d *resolvedType) has(values *v1.ScopedValues) bool {
	found, _ := d.valuesIn(values)
	return found != nil
}

// selfOf returns the type of 'self' in a scope of which the object has values.
func (t *typeTable) selfOf(object resolvedType, values v1.ScopedValues) *cel.Type {
	found, _ := object.valuesIn(&values)
	// The slash keeps the name from being an identifier in expressions.
	return t.typeOf("self/"+values.Type+values.Path, found, false)
}

// valuesIn returns the schema of the values in a scope, or nil and the reason if objects of the
// type have no such values. If the schema of the objects is not known, it returns a schema of any
// value.
func (d *resolvedType) valuesIn(values *v1.ScopedValues) (*spec.Schema, string) {
	if d.schema == nil || d.kind == wildcardKind {
		return &spec.Schema{}, ""
	}
	if values.Type != "" {
		if found := d.models()[values.Type]; found != nil {
			return found, ""
		}
		return nil, suggestion(values.Type, maps.Keys(d.models()))
	}
	s := d.schema
	path, err := rulepath.ParseScope(values.Path)
	if err != nil {
		return &spec.Schema{}, "" // API validation reports it
	}
	for i, segment := range path {
		below := locations.Below(s, segment)
		switch {
		case below != nil:
			s = below
		case isOpen(s):
			return &spec.Schema{}, ""
		case segment.Each:
			return nil, fmt.Sprintf(": %s is neither a list nor a map", path[:i].Describe())
		default:
			return nil, fmt.Sprintf(": %s has no field %q%s", path[:i].Describe(), rulepath.Abbreviate(segment.Name), suggestion(segment.Name, maps.Keys(s.Properties)))
		}
	}
	return s, ""
}

// listWithoutKeys returns the path of the first list without list map keys on the way to the values
// in a scope, or an empty string. Items of such a list have no old values, because no key tells
// which old items are the same.
func (d *resolvedType) listWithoutKeys(values *v1.ScopedValues) string {
	path, err := rulepath.ParseScope(values.Path)
	if err != nil || values.Path == "" || d.schema == nil || d.kind == wildcardKind {
		return ""
	}
	s := d.schema
	for i, segment := range path {
		if s == nil {
			break
		}
		if segment.Each && s.Items != nil && len(locations.ListKeys(s)) == 0 {
			return path[:i].Describe()
		}
		s = locations.Below(s, segment)
	}
	return ""
}

func suggestion(name string, names iter.Seq[string]) string {
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}

// isOpen reports whether values of a schema may have parts that it does not describe.
func isOpen(s *spec.Schema) bool {
	preserves, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	isObject := len(s.Type) == 0 || s.Type.Contains("object")
	return preserves || isObject && len(s.Properties) == 0 && s.Items == nil && additionalOf(s) == nil
}

// modelsIn returns the models in a schema, by name. A model that contains itself occurs twice in a
// schema: with its fields, and again inside, without them. modelsIn returns it with its fields.
func modelsIn(s *spec.Schema) map[string]*spec.Schema {
	models := map[string]*spec.Schema{}
	var add func(*spec.Schema)
	add = func(s *spec.Schema) {
		if name := modelschema.NameOf(s); name != "" && models[name] == nil {
			models[name] = s
		}
		for _, property := range s.Properties {
			add(&property)
		}
		for _, below := range []*spec.Schema{itemsOf(s), additionalOf(s)} {
			if below != nil {
				add(below)
			}
		}
	}
	add(s)
	return models
}

// checkScopes adds a finding for each validation with a scope that is never evaluated: objects of
// no type have values in the scope, or the expression reads 'oldSelf' and no such value can have an
// old one. The findings have no type. checked are all types of the policy.
func checkScopes(policy *policyspec.Anatomy, checked []checkedType, result *Result) {
	for i := range policy.Expressions {
		e := &policy.Expressions[i]
		if e.Role != policyspec.Validation || e.Scope == nil || len(checked) == 0 {
			continue
		}
		inPath := field.NewPath("spec", "validations").Index(e.Index).Child("scope")
		found, list, evaluated := false, "", false
		for _, t := range checked {
			if !t.object.has(e.Scope) {
				continue
			}
			without := t.object.listWithoutKeys(e.Scope)
			found, list = true, cmp.Or(list, without)
			evaluated = evaluated || without == "" || !t.assessments[i].readsOldSelf
		}
		if found {
			if !evaluated {
				result.addUntyped(inPath.Child("path"), fmt.Sprintf("the expression is never evaluated, because it reads oldSelf and %s is a list whose items have no keys", list))
			}
			continue
		}
		reason := ""
		for _, t := range checked {
			if _, reason = t.object.valuesIn(e.Scope); reason != "" {
				break
			}
		}
		if e.Scope.Type != "" {
			result.addUntyped(inPath.Child("type"), fmt.Sprintf("objects have no values of type %q%s", rulepath.Abbreviate(e.Scope.Type), reason))
		} else {
			result.addUntyped(inPath.Child("path"), "objects have no values at the path"+reason)
		}
	}
}

// addUntyped adds a finding without a type.
func (r *Result) addUntyped(path *field.Path, message string) {
	r.Findings = append(r.Findings, Finding{
		Field: path.String(), Message: "ERROR: " + message, Issues: []Issue{{Line: 1, Column: 1, Message: message}},
	})
}
