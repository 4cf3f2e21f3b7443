// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

// checkReplacedLists returns an error for each rule that sets items of a list which an earlier rule
// replaces. The later rule reads an item of the source and sets the item with the same index in the
// converted object. If the earlier rule sorts or filters the list, that is another item.
func (c *checkedRules) checkReplacedLists() field.ErrorList {
	var errs field.ErrorList
	for j, rule := range c.rules {
		for i, earlier := range c.rules[:j] {
			list := c.replacedList(earlier, rule.scope)
			if list == nil {
				continue
			}
			errs = append(errs, field.Invalid(c.path.Index(j).Child("scope"), ruleerror.Abbreviate(rule.scope.String()), fmt.Sprintf("%s replaces the list %s before, so that the item with the same index need not be the one that this rule reads: "+
				"set the fields of the items in %s, for example with map() and a constructor, and remove this rule", c.path.Index(i), list, c.path.Index(i))))
			break
		}
	}
	return errs
}

// replacedList returns the path of the first list on the way to scope that the rule replaces, or
// nil.
func (c *checkedRules) replacedList(rule *compiledRule, scope rulepath.Path) rulepath.Path {
	path := rule.path()
	for n, step := range scope {
		list := scope[:n]
		if !step.Each || len(path) > n || !overlap(path, list[:len(path)]) || !c.edge.isList(list) {
			continue
		}
		below := list[len(path):]
		if below.HasEach() || !rule.expression.KeepsField(names(below)) {
			return list
		}
	}
	return nil
}

// overlap reports whether two paths of the same length may lead to the same value.
func overlap(a, b rulepath.Path) bool {
	for i := range a {
		if a[i] != b[i] && !a[i].Each && !b[i].Each {
			return false
		}
	}
	return true
}
