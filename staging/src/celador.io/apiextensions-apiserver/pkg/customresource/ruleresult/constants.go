// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// CheckConstants returns an error if an expression may return a constant that is not valid in a
// field with the schema to: one that is not in the field's enum, for example, or an item of a
// list-map without its key. It checks all parts of the results that are literals in the expression.
//
// An empty text is accepted if the rule may also return something else, as in self.?a.orValue(""):
// rules return it where a required field has no value.
func CheckConstants(expression *schemaexpression.Expression, to *structuralschema.Structural) error {
	parts := expression.ResultParts()
	for _, part := range parts {
		if part.Constant == nil || part.Constant == types.String("") && hasAlternative(parts, part.Path) {
			continue
		}
		path, schema, list := descend(to, part.Path)
		if schema == nil {
			continue
		}
		if part.Constant == types.NullValue {
			if last := len(path) - 1; list != nil && last >= 0 && slices.Contains(list.XListMapKeys, path[last].Name) {
				return fmt.Errorf("the rule leaves %s unset, which is a key of the list (x-kubernetes-list-map-keys): return a value", path)
			}
			continue
		}
		value, set, err := new(Assigner).Assign(nil, part.Constant, schema)
		if err == nil && set {
			err = validate(value, schema)
		}
		if err != nil {
			return fmt.Errorf("the rule returns a constant that is not valid%s: %w", at(path), err)
		}
	}
	return nil
}

// hasAlternative reports whether the text of an expression shows several values for the part of its
// result at a path, such as in the branches of a conditional. The expression may then return
// another value for the part than one of its constants.
func hasAlternative(parts []schemaexpression.ResultPart, path []string) bool {
	found := 0
	for _, part := range parts {
		if slices.Equal(part.Path, path) {
			found++
		}
	}
	return found > 1
}

func at(path rulepath.Path) string {
	if len(path) == 0 {
		return ""
	}
	return " for " + path.String()
}

// descend follows the path of a part of the result into the schema of the field. It returns the
// path for errors, and the schema of the part, or nil if there is none. If the part is a field of
// the items of a list, it also returns the schema of the list, because the field may be one of the
// list's keys.
func descend(schema *structuralschema.Structural, steps []string) (path rulepath.Path, _, list *structuralschema.Structural) {
	var around *structuralschema.Structural
	for _, name := range steps {
		list, around = around, nil
		step := rulepath.Segment{Name: name}
		var next *structuralschema.Structural
		switch {
		case name == schemaexpression.Entry:
			step = rulepath.Segment{Each: true}
			if next = schema.Items; next != nil {
				around = schema
			} else {
				next = ruleschema.Values(schema)
			}
		default:
			next, _ = fieldSchema(schema, name)
		}
		path = append(path, step)
		if next == nil {
			return path, nil, nil
		}
		schema = next
	}
	return path, schema, list
}

// validate returns an error if the API would refuse the value in a custom resource.
func validate(value any, schema *structuralschema.Structural) error {
	leaf := *schema
	leaf.XValidations = nil
	errs := validation.ValidateCustomResource(nil, value, validation.NewSchemaValidatorFromOpenAPI(leaf.ToKubeOpenAPI()))
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = strings.Replace(err.ErrorBody(), ":  in body ", ": it ", 1)
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}
