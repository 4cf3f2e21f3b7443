// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// checkedRules are the rules of one converter while they are checked.
type checkedRules struct {
	edge *edge
	// path is the path of the converter's rules.
	path  *field.Path
	rules []checkedRule
}

type checkedRule struct {
	*compiledRule
	// cost is the estimated cost of evaluating the rule for all values that one object has at its scope.
	cost rulelimit.Cost
}

// check checks a rule by itself.
func (c *checkedRules) check(i int, rule *v1.ConversionRule, origin environment.Type) field.ErrorList {
	path := c.path.Index(i)
	var errs field.ErrorList
	for _, text := range []struct {
		name, value string
		limit       int
	}{{"scope", rule.Scope, rulelimit.MaxPathLength}, {"field", rule.Field, rulelimit.MaxPathLength}, {"rule", rule.Rule, rulelimit.MaxRuleLength}} {
		if len(text.value) > text.limit {
			errs = append(errs, field.TooLong(path.Child(text.name), "", text.limit))
		}
	}
	if strings.TrimSpace(rule.Rule) == "" {
		errs = append(errs, field.Required(path.Child("rule"), "must be an expression; null leaves the field unset"))
	}
	if len(errs) > 0 {
		return errs
	}
	compiled, problem := c.edge.compile(rule, origin)
	if problem != nil {
		value := map[string]string{"scope": rule.Scope, "field": rule.Field, "rule": rule.Rule}[problem.field]
		return field.ErrorList{field.Invalid(path.Child(problem.field), ruleerror.Abbreviate(value), problem.detail)}
	}
	cost, err := rulelimit.Estimate(compiled.expression, compiled.repetitions)
	if err != nil {
		return field.ErrorList{field.InternalError(path.Child("rule"), fmt.Errorf("the cost of the rule cannot be estimated: %w", err))}
	}
	c.rules = append(c.rules, checkedRule{compiled, cost})
	return nil
}

// checkCosts checks the estimated costs of the rules.
func (c *checkedRules) checkCosts() field.ErrorList {
	var errs field.ErrorList
	var total rulelimit.Cost
	for i, rule := range c.rules {
		total = total.Add(rule.cost)
		if rule.cost.Exceeds() {
			errs = append(errs, field.Forbidden(c.path.Index(i).Child("rule"), rule.cost.Excess("estimated rule cost")+c.unlimited(rule)))
		}
	}
	if total.Exceeds() && len(errs) == 0 {
		var expensive []string
		byCost := make([]int, len(c.rules))
		for i := range byCost {
			byCost[i] = i
		}
		slices.SortStableFunc(byCost, func(a, b int) int { return cmp.Compare(c.rules[b].cost.Typical, c.rules[a].cost.Typical) })
		for _, i := range byCost[:min(len(byCost), maxListed)] {
			expensive = append(expensive, fmt.Sprintf("rules[%d]", i))
		}
		errs = append(errs, field.Forbidden(c.path, total.Excess("estimated cost of all rules of the converter")+
			". The most expensive rules are "+strings.Join(expensive, ", ")))
	}
	return errs
}

// costWarnings returns warnings about rules that may cost more than an object may cost.
func (c *checkedRules) costWarnings() []string {
	var warnings []string
	for i, rule := range c.rules {
		if rule.cost.MayExceed() {
			warnings = append(warnings, fmt.Sprintf("%s: objects with long lists are refused if converting them costs more than %d units, because the rule loops over one list for each item of another%s",
				c.path.Index(i).Child("rule"), maxObjectCost, c.unlimited(rule)))
		}
	}
	return warnings
}

// maxListed bounds the names in an error.
const maxListed = 5

// unlimited names the lists, maps and strings without limits that a rule reads.
func (c *checkedRules) unlimited(rule checkedRule) string {
	var missing []string
	add := func(limit string, path rulepath.Path) {
		if text := limit + " of " + path.String(); !slices.Contains(missing, text) && (len(path) == 0 || path[0].Name != "metadata") {
			missing = append(missing, text)
		}
	}
	root := c.edge.from.source().schema
	unlimitedOnPath(root, rule.scope, false, add)
	for _, read := range rule.expression.SelfReads() {
		path, _ := absolute(rule, read.Path)
		unlimitedOnPath(root, path, read.Whole, add)
	}
	if len(missing) == 0 {
		return ""
	}
	more := ""
	if len(missing) > maxListed {
		more = fmt.Sprintf(", and %d more", len(missing)-maxListed)
		missing = missing[:maxListed]
	}
	return fmt.Sprintf(": the rule reads values without limits; in version %s, set %s%s", c.edge.from.name, strings.Join(missing, ", "), more)
}

// absolute returns the path in the source of what an expression reads, and false if it reads a value that the schema
// does not describe; the path ends before it then.
func absolute(rule checkedRule, read []string) (rulepath.Path, bool) {
	path := slices.Clone(rule.scope)
	schema := rule.source
	for _, step := range read {
		next := rulepath.Step{Name: step}
		if schema.Items != nil || valueSchema(schema) != nil {
			// Costs and losses do not depend on the key.
			next = rulepath.Step{Each: true}
		} else if name, ok := apiservercel.Unescape(step); ok {
			next.Name = name
		}
		below, err := rulepath.Path{next}.Resolve(schema)
		if err != nil {
			return path, false
		}
		path, schema = append(path, next), below
	}
	return path, true
}

// unlimitedOnPath calls add for the lists and maps without limits on a path and, with whole, for the value at its end.
func unlimitedOnPath(schema *structuralschema.Structural, path rulepath.Path, whole bool, add func(limit string, path rulepath.Path)) {
	for i := 0; ; i++ {
		limits := schema.ValueValidation
		if limits == nil {
			limits = &structuralschema.ValueValidation{}
		}
		isEnd := i == len(path)
		switch {
		case schema.Items != nil && limits.MaxItems == nil:
			add("maxItems", path[:i])
		case valueSchema(schema) != nil && limits.MaxProperties == nil:
			add("maxProperties", path[:i])
		case isEnd && whole && (schema.Type == "string" || schema.XIntOrString) && limits.MaxLength == nil && len(limits.Enum) == 0 && limits.Format == "":
			add("maxLength", path[:i])
		}
		if isEnd {
			return
		}
		next, err := path[i : i+1].Resolve(schema)
		if err != nil {
			return
		}
		schema = next
	}
}
