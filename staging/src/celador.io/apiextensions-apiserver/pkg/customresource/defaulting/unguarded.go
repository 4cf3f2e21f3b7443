// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A writtenRule is a compiled rule with its field path in the CustomResourceDefinition.
type writtenRule struct {
	path *field.Path
	rule *rule
}

// unguarded returns a warning for each rule that may fail for a valid object: it reads, without a
// check such as has(), a value that may be unset and that no rule sets.
func unguarded(rules []writtenRule) []string {
	set := sets.New[string]()
	for _, r := range rules {
		set.Insert(r.rule.scope.location.Join(r.rule.field).String())
	}
	var warnings []string
	for _, r := range rules {
		unset := slices.DeleteFunc(r.rule.unguarded, func(value ruleschema.UnsetValue) bool {
			return set.Has(r.rule.scope.location.Join(value.Path).String())
		})
		if len(unset) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: objects that lack %s are refused, because the rule fails. %s",
				r.path.Child("rule"), ruleerror.Paths(unset), ruleerror.GuardAdvice(unset[0])))
		}
	}
	return warnings
}
