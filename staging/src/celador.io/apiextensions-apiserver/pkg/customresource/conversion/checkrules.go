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

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// checkedRules checks the rules and variables of a converter, first each on its own and then
// together, for example their total cost and whether rules overwrite one another. It holds those in
// which the first checks found no error.
type checkedRules struct {
	edge *edge
	// path is the path of the converter's rules.
	path  *field.Path
	rules []*compiledRule
	// variablesPath is the path of the converter's variables.
	variablesPath *field.Path
	variables     []checkedVariable
	// estimates holds the estimated costs of the variables and rules.
	estimates []estimate
}

// An estimate is the estimated cost of a rule or variable, for all values of one object at its
// scope together.
type estimate struct {
	path *field.Path
	// what names the cost in errors, such as "estimated rule cost".
	what       string
	cost       rulelimit.Cost
	scope      rulepath.Path
	expression *schemaexpression.Expression
}

// estimate estimates the cost of an expression, and adds it to c.estimates. repetitions holds the
// limits of the lists and maps on the way to scope: the expression is evaluated for each of their
// entries.
func (c *checkedRules) estimate(path *field.Path, what string, scope rulepath.Path, repetitions []int64, expression *schemaexpression.Expression) field.ErrorList {
	cost, err := rulelimit.Estimate(expression, repetitions)
	if err != nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("the cost of the expression cannot be estimated: %w", err))}
	}
	c.estimates = append(c.estimates, estimate{path, what, cost, scope, expression})
	return nil
}

// check compiles the rule with index i, and returns those of its errors that do not depend on other
// rules. A rule without such errors is added to c.rules.
func (c *checkedRules) check(i int, rule *v1.ConversionRule, origin environment.Type) field.ErrorList {
	path := c.path.Index(i)
	errs := slices.Concat(
		rulelimit.CheckLength(path.Child("scope"), rule.Scope, rulelimit.MaxPathLength),
		rulelimit.CheckLength(path.Child("field"), rule.Field, rulelimit.MaxPathLength),
		rulelimit.CheckLength(path.Child("rule"), rule.Rule, rulelimit.MaxRuleLength))
	if strings.TrimSpace(rule.Rule) == "" {
		errs = append(errs, field.Required(path.Child("rule"), "must be an expression; null leaves the field unset"))
	}
	if len(errs) > 0 {
		return errs
	}
	compiled, problem := c.edge.compile(rule, origin)
	if problem == nil {
		problem = c.edge.checkConstants(compiled)
	}
	if problem != nil {
		value := map[string]string{"scope": rule.Scope, "field": rule.Field, "rule": rule.Rule}[problem.field]
		return field.ErrorList{field.Invalid(path.Child(problem.field), ruleerror.Abbreviate(value), problem.detail)}
	}
	c.rules = append(c.rules, compiled)
	return c.estimate(path.Child("rule"), "estimated rule cost", compiled.scope, compiled.repetitions, compiled.expression)
}

// checkCosts checks the estimated costs of the variables and rules.
func (c *checkedRules) checkCosts() field.ErrorList {
	var errs field.ErrorList
	var total rulelimit.Cost
	for _, e := range c.estimates {
		total = total.Add(e.cost)
		if e.cost.Exceeds() {
			errs = append(errs, field.Forbidden(e.path, e.cost.Excess(e.what)+c.unlimited(e.scope, e.expression)))
		}
	}
	if total.Exceeds() && len(errs) == 0 {
		byCost := slices.SortedStableFunc(slices.Values(c.estimates), func(a, b estimate) int { return cmp.Compare(b.cost.Typical, a.cost.Typical) })
		var expensive []string
		for _, e := range byCost[:min(len(byCost), maxListed)] {
			expensive = append(expensive, e.path.String())
		}
		errs = append(errs, field.Forbidden(c.path, total.Excess("estimated cost of all rules of the converter")+
			". The most expensive expressions are "+strings.Join(expensive, ", ")))
	}
	return errs
}

// costWarnings returns warnings about variables and rules that are accepted, but may exceed the
// cost limit of an object (maxObjectCost) if its lists are long.
func (c *checkedRules) costWarnings() []string {
	var warnings []string
	for _, e := range c.estimates {
		if e.cost.MayExceed() {
			warnings = append(warnings, fmt.Sprintf("%s: objects with long lists are refused if converting them costs more than %d units, because the rule loops over one list for each item of another%s",
				e.path, maxObjectCost, c.unlimited(e.scope, e.expression)))
		}
	}
	return warnings
}

const (
	// maxListed bounds the values or rules that an error names.
	maxListed = 5
	// maxWarned bounds the fields or rules that a warning names.
	maxWarned = 10
)

// unlimited returns the end of an error or warning that asks for limits: it names the lists, maps
// and strings without limits that an expression reads, and those that lead to its scope. It returns
// "" if there are none.
func (c *checkedRules) unlimited(scope rulepath.Path, expression *schemaexpression.Expression) string {
	var missing []string
	add := func(limit string, path rulepath.Path) {
		if text := limit + " of " + path.String(); !slices.Contains(missing, text) && (len(path) == 0 || path[0].Name != "metadata") {
			missing = append(missing, text)
		}
	}
	root := c.edge.from.source().schema
	unlimitedOnPath(root, scope, false, add)
	for _, read := range sourceReads(c.edge.from, scope, expression) {
		unlimitedOnPath(root, read.path, read.whole, add)
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf(": the rule reads values without limits; in version %s, set %s", c.edge.from.name, ruleerror.List(missing, maxListed, ", ", ""))
}

// A sourceRead is a part of the object to convert that an expression reads.
type sourceRead struct {
	path rulepath.Path
	// whole is set if the expression may depend on everything in the value, or reads a value in it
	// that the schema does not describe.
	whole bool
	// inSelf is set if the expression reads the part through self, so that the path begins with the
	// scope.
	inSelf bool
}

// sourceReads returns the parts of an object in a version that an expression reads through self,
// root and variables. scope is the path from the object to self.
func sourceReads(version *typedVersion, scope rulepath.Path, expression *schemaexpression.Expression) []sourceRead {
	var all []sourceRead
	add := func(start rulepath.Path, inSelf bool, reads []schemaexpression.Read) {
		schema, err := ruleschema.Resolve(start, version.source().schema)
		if err != nil {
			return // The scope has been checked.
		}
		for _, read := range reads {
			path, described := absolute(start, schema, read.Path)
			all = append(all, sourceRead{path, read.Whole || !described, inSelf})
		}
	}
	add(scope, true, expression.SelfReads())
	add(nil, false, expression.RootReads())
	return all
}

// absolute returns the path, from the whole object, of a part that an expression reads below start.
// schema is the schema at start. If the expression reads a value that the schema does not describe,
// the path ends before that value, and absolute returns false.
func absolute(start rulepath.Path, schema *structuralschema.Structural, read []string) (rulepath.Path, bool) {
	path := slices.Clone(start)
	for _, step := range read {
		next := rulepath.Segment{Name: step}
		if schema.Items != nil || ruleschema.Values(schema) != nil {
			// For the checks of costs and losses, all entries of a map are alike.
			next = rulepath.Segment{Each: true}
		} else if name, ok := apiservercel.Unescape(step); ok {
			next.Name = name
		}
		below, err := ruleschema.Resolve(rulepath.Path{next}, schema)
		if err != nil {
			return path, false
		}
		path, schema = append(path, next), below
	}
	return path, true
}

// unlimitedOnPath calls add with each limit that the schema lacks on a path: maxItems of lists and
// maxProperties of maps. If whole is set, because an expression reads everything in the value at
// the end, maxLength of a string there counts, too.
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
		case ruleschema.Values(schema) != nil && limits.MaxProperties == nil:
			add("maxProperties", path[:i])
		case isEnd && whole && (schema.Type == "string" || schema.XIntOrString) && limits.MaxLength == nil && len(limits.Enum) == 0 && limits.Format == "":
			add("maxLength", path[:i])
		}
		if isEnd {
			return
		}
		next, err := ruleschema.Resolve(path[i:i+1], schema)
		if err != nil {
			return
		}
		schema = next
	}
}
