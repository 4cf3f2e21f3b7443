// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

var (
	undeclared = regexp.MustCompile(`undeclared reference to '([^']+)'`)
	undefined  = regexp.MustCompile(`undefined field '([^']+)'`)
	index      = regexp.MustCompile(`\[[0-9]+\]`)
)

// explain returns the text for a field that is not a path in the schema of the rule. err is the error of rulepath, which also
// speaks to authors of conversion rules.
func explain(at *place, text string, err error) string {
	// Scopes of conversion rules are all paths that rulepath knows. An index is as wrong as [*].
	path, malformed := rulepath.ParseScope(index.ReplaceAllString(text, "[*]"))
	if malformed != nil {
		return err.Error()
	}
	if at.schema.Type != "object" && at.schema.Type != "array" && len(path) > 0 {
		return fmt.Sprintf("the schema of the rule has no fields: leave field empty to set %s, or move the rule to the schema of an object around the field", at.property)
	}
	if len(path) > 1 && path[0].Name == at.property {
		if _, err := path[1:].Resolve(at.schema); err == nil {
			return fmt.Sprintf("the path is relative to the schema of the rule, which is in %s: write %q", at.property, path[1:])
		}
	}
	for i, step := range path {
		parent, err := path[:i].Resolve(at.schema)
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
		return fmt.Sprintf("the path must not lead into a list or into every value of a map: move the rule to x-kubernetes-default in the schema of the entries of %s, and write %q", path[:i], inside)
	}
	return err.Error()
}

// metadataFields are the fields of metadata that authors may expect in self.
var metadataFields = sets.New("labels", "annotations", "namespace", "metadata", "uid", "ownerReferences", "finalizers", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion")

// hint returns what to write instead of a variable that an expression does not have, or nothing.
func hint(failure *apiservercel.Error, self *apiservercel.DeclType) string {
	var compilation *apiservercel.CompilationError
	if !errors.As(failure.Cause, &compilation) {
		return ""
	}
	for _, issue := range compilation.Issues.Errors() {
		if match := undefined.FindStringSubmatch(issue.Message); match != nil && metadataFields.Has(match[1]) {
			return "\nOf metadata, default expressions can read name and generateName, in the schema of the root only"
		}
		if match := undefined.FindStringSubmatch(issue.Message); match != nil && len(self.Fields) > 0 {
			return fmt.Sprintf("\nself is the object with the rule, or around the field with the rule, and not the whole custom resource. Its fields are %s", fieldNames(self))
		}
		if hints := ruleerror.Hints(issue.Message); len(hints) > 0 {
			return "\n" + hints[0]
		}
		match := undeclared.FindStringSubmatch(issue.Message)
		if match == nil {
			continue
		}
		name := match[1]
		if name == schemaexpression.OldSelf {
			return "\nDefault expressions have no oldSelf, because they also run when an object is read"
		}
		if _, ok := self.Fields[name]; ok {
			return fmt.Sprintf("\nFields are read through self: write %s.%s", schemaexpression.Self, name)
		}
	}
	return ""
}

// fieldNames lists the first names of the fields of self.
func fieldNames(self *apiservercel.DeclType) string {
	const listed = 10
	names := sortedKeys(self.Fields)
	if len(names) > listed {
		names = append(names[:listed], "...")
	}
	return strings.Join(names, ", ")
}
