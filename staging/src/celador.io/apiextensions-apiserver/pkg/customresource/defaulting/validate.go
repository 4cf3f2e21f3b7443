// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"fmt"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
)

const keyword = "x-kubernetes-default"

// Validate checks the rules of a version that is written, and returns an error for each that is
// invalid or too expensive. root is the structural schema of the version and path the field path of
// its openAPIV3Schema. status says whether the version has a status subresource. stored are the
// rules of the version as stored, or nil: an expression that is stored already may call functions
// that newer servers have and this compatibility version does not. Warnings are about rules that
// fail for some objects.
func Validate(root *structuralschema.Structural, defaults, stored apiextensions.SchemaDefaults, status bool, path *field.Path) (errs field.ErrorList, warnings []string) {
	count := 0
	for _, rules := range defaults {
		count += len(rules)
	}
	if count > rulelimit.MaxRules {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("the version has %d rules in %s, and may have at most %d", count, keyword, rulelimit.MaxRules))}, nil
	}
	known := sets.New[string]()
	for _, rules := range stored {
		for _, r := range rules {
			known.Insert(r.Rule)
		}
	}
	c := newCompiler(root, func(rule string) environment.Type {
		if known.Has(rule) {
			return environment.StoredExpressions
		}
		return environment.NewExpressions
	})
	c.validating = true
	top, outside := newPlaces(root, defaults)
	var valid []writtenRule
	for _, schema := range outside {
		errs = append(errs, field.Forbidden(schema.Field(path).Child(keyword),
			"rules are not allowed in allOf, anyOf, oneOf and not: move the rules to the schema of the same field under properties, items or additionalProperties"))
	}
	var total rulelimit.Cost
	top.each(func(at *place) {
		for i, source := range at.sources {
			rulePath := at.path.Field(path).Child(keyword).Index(i)
			if failures := slices.Concat(
				rulelimit.CheckLength(rulePath.Child("field"), source.Field, rulelimit.MaxPathLength),
				rulelimit.CheckLength(rulePath.Child("rule"), source.Rule, rulelimit.MaxRuleLength)); len(failures) > 0 {
				errs = append(errs, failures...)
				continue
			}
			r, err := c.compile(at, source, rulePath)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if detail := crossing(r); status && detail != "" {
				errs = append(errs, field.Forbidden(rulePath.Child("rule"), detail))
			}
			valid = append(valid, writtenRule{rulePath, r})
			total = total.Add(r.cost)
			if r.cost.Exceeds() {
				errs = append(errs, field.Forbidden(rulePath.Child("rule"), r.cost.Excess("estimated rule cost")))
			}
		}
	})
	if total.Exceeds() && len(errs) == 0 {
		errs = append(errs, field.Forbidden(path, total.Excess("estimated cost of all x-kubernetes-default of the version")))
	}
	if len(errs) > 0 {
		return errs, nil
	}
	return nil, unguarded(valid)
}
