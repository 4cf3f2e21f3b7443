// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	"celador.io/admission/spelling"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

var index = regexp.MustCompile(`\[[0-9]+\]`)

// explain returns the error text for a rule whose field is not a path in its schema. at is the
// place of the rule, and text its field. err is the error of rulepath. Since its advice may hold
// for conversion rules only, explain looks for the likely mistake and advises how to correct it.
func explain(at *place, text string, err error) string {
	// A field must not contain [*] or an index. To find the list or map that the author means, the
	// field is parsed as a scope, which may contain [*].
	path, malformed := rulepath.ParseScope(index.ReplaceAllString(text, "[*]"))
	if malformed != nil {
		return err.Error()
	}
	if at.schema.Type != "object" && at.schema.Type != "array" && len(path) > 0 {
		return fmt.Sprintf("the schema of the rule has no fields: leave field empty to set %s, or move the rule to the schema of an object around the field", at.property)
	}
	if len(path) > 1 && path[0].Name == at.property {
		if _, err := ruleschema.Resolve(path[1:], at.schema); err == nil {
			return fmt.Sprintf("the path is relative to the schema of the rule, which is in %s: write %q", at.property, path[1:])
		}
	}
	for i, step := range path {
		parent, err := ruleschema.Resolve(path[:i], at.schema)
		if err != nil {
			break
		}
		if parent.Items == nil && !step.Each {
			continue
		}
		inside := path[i:]
		if step.Each {
			inside = path[i+1:]
		}
		if len(inside) == 0 {
			return "entries of lists and maps are never unset: write the rule for a field in them, in the schema of the entries"
		}
		return fmt.Sprintf("the path must not lead into a list or into every value of a map: move the rule to x-kubernetes-default in the schema of the entries of %s, and write %q", selfName(at.location.Join(path[:i])), inside)
	}
	return err.Error()
}

// hiddenMetadata are the fields of metadata that self does not have.
var hiddenMetadata = sets.New("labels", "annotations", "namespace", "uid", "ownerReferences", "finalizers", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion")

// hints returns suggestions for an expression, each as a line: what to write instead of the names
// that the type checker does not know. detail is the text of the type checker's errors.
func hints(detail, source string, scope *place) string {
	names := ruleerror.Names{
		Variable: func(name string) string { return variableHint(name, scope) },
		Field:    func(name string) string { return fieldHint(name, scope) },
	}
	return strings.Join(append([]string{""}, ruleerror.Hints(detail, source, names)...), "\n")
}

// variableHint returns the hint for a variable or type that does not exist, or "".
func variableHint(name string, scope *place) string {
	self := scope.selfType()
	if path, ok := strings.CutPrefix(name, ruleresult.ObjectType+"."); ok {
		return fmt.Sprintf("The schema has no object at %s. Constructors have the path from the root: Object.spec.a{...} constructs spec.a, or an entry if spec.a is a list or map", path)
	}
	switch name {
	case schemaexpression.OldSelf, "oldObject":
		return "Default expressions cannot read the object before an update, because they also run when an object is read"
	case "object":
		return "There is no object: self is the value whose schema the rule is in"
	}
	if _, ok := self.Fields[name]; ok {
		return "Fields are read through self: write self." + name
	}
	if isOutside(name, scope) {
		return outsideHint(name, scope)
	}
	if near := nearest(name, scope); near != "" {
		return fmt.Sprintf("Fields are read through self: did you mean self.%s?", near)
	}
	return ""
}

// fieldHint returns the hint for a field that does not exist, or "".
func fieldHint(name string, scope *place) string {
	switch {
	case name == scope.property && name != "":
		return fmt.Sprintf("self is %s already: write self.a instead of self.%s.a", selfName(scope.location), name)
	case name == "metadata" && !scope.resource, hiddenMetadata.Has(name):
		return "Of metadata, default expressions can read name and generateName, in the schema of the root"
	case isOutside(name, scope):
		return outsideHint(name, scope)
	}
	if near := nearest(name, scope); near != "" {
		return fmt.Sprintf("Did you mean %q instead of %q?", near, name)
	}
	if fields := scope.selfType().Fields; len(fields) > 0 {
		return fmt.Sprintf("self is %s, with the fields %s", selfName(scope.location), ruleschema.ListNames(maps.Keys(fields)))
	}
	return ""
}

// isOutside reports whether an object around self has the property, and self does not.
func isOutside(name string, scope *place) bool {
	for at := scope.parent; at != nil; at = at.parent {
		if _, ok := at.schema.Properties[name]; ok {
			return true
		}
	}
	return false
}

func outsideHint(name string, scope *place) string {
	return fmt.Sprintf("self is %s and has no %s. To read it, move the rule to the schema around both, and write the path from there into field", selfName(scope.location), name)
}

// nearest returns the name of a field in self that the name was probably meant to be.
func nearest(name string, scope *place) string {
	return spelling.Nearest(name, slices.Values(ruleerror.FieldNames(scope.selfType())))
}
