// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// unguardedRules collects the rules that fail if a value that they read is unset.
type unguardedRules struct {
	rules []unguardedRule
	// set holds the fields that rules set.
	set map[string]bool
}

type unguardedRule struct {
	path  *field.Path
	scope *place
	rule  *rule
}

func (u *unguardedRules) add(path *field.Path, scope *place, r *rule) {
	if u.set == nil {
		u.set = map[string]bool{}
	}
	u.set[scope.location().Join(r.field).String()] = true
	u.rules = append(u.rules, unguardedRule{path, scope, r})
}

// warnings returns a warning for each rule that reads a value which objects need not have and no
// rule sets.
func (u *unguardedRules) warnings() []string {
	var warnings []string
	for _, unguarded := range u.rules {
		location := unguarded.scope.location()
		unset := slices.DeleteFunc(slices.Clone(unguarded.rule.unguarded), func(value rulepath.UnsetValue) bool {
			return u.set[location.Join(value.Path).String()]
		})
		if len(unset) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: objects that lack %s are refused, because the rule fails. %s",
				unguarded.path.Child("rule"), ruleerror.Reads(unset), ruleerror.GuardAdvice(unset[0])))
		}
	}
	return warnings
}
