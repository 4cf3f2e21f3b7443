// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// An openField is a field whose type the version that is converted from leaves open, and the
// version that is converted to declares. Conversion copies its value if it has the declared type.
// Otherwise the object cannot be converted, unless a rule sets the field.
type openField struct {
	path   rulepath.Path
	target *structuralschema.Structural
}

// checkOpenFields returns an error if the value that a conversion has copied into an open field
// does not have the type that the target declares. The values that rules set have been checked
// before.
func (c *conversion) checkOpenFields() *Error {
	var results ruleresult.Assigner // not c.results, whose limits must not count copied values
	for _, o := range c.plan.openFields {
		fail := func(path rulepath.Path, err error) *Error {
			return &Error{Reason: ReasonType, Err: fmt.Errorf("%s, whose type version %s leaves open, cannot be copied: %w. Correct the object, or add a rule that sets the field",
				path, c.plan.from.name, err)}
		}
		matches, err := o.path.Locations(c.target, maxMatches)
		if err != nil {
			return fail(o.path, err)
		}
		for _, match := range matches {
			if err := results.Check(match.Value, o.target); err != nil {
				return fail(match.Path, err)
			}
		}
	}
	return nil
}

// openFieldWarnings returns a warning that names the open fields that no rule sets.
func (c *checkedRules) openFieldWarnings() []string {
	var unset []string
	for _, o := range compareIdentity(c.edge.from.schema, c.edge.to.schema).openFields {
		isSet := slices.ContainsFunc(c.rules, func(rule *compiledRule) bool {
			path := rule.path()
			return len(path) <= len(o.path) && slices.Equal(path, o.path[:len(path)])
		})
		if !isSet {
			unset = append(unset, fmt.Sprintf("%s, which is %s in version %s", o.path, ruleresult.Describe(o.target), c.edge.to.name))
		}
	}
	if len(unset) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: version %s allows values of any type in %s: objects with a value of another type cannot be converted. Add rules that convert these values",
		c.path, c.edge.from.name, ruleerror.List(unset, maxWarned, ", in ", " fields"))}
}
