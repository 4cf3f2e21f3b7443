// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

const (
	// maxObjectCost bounds the cost of converting one object with all converters of a chain.
	maxObjectCost = rulelimit.MaxObjectCost
	// maxMatches bounds the number of values in one object to which one scope leads. They are
	// collected before a rule is evaluated for them, so costs do not bound the memory that they
	// take.
	maxMatches = 100_000
)

// A conversion converts one object with one converter.
type conversion struct {
	plan *plan
	// source is the object to convert, which does not change.
	source map[string]any
	// target is the converted object.
	target     map[string]any
	apiVersion string
	// partial is set if the source is a part of an object, which may lack fields that rules read.
	partial bool
	// defaults is the conversion of the same object with its defaults set. A rule that has failed
	// for a part of an object is evaluated again with it, because the part may lack a value that is
	// a default. Nil for a whole object, or if the defaults are not known.
	defaults *conversion
	// budget is the cost that the remaining rules may have.
	budget uint64
	// results converts the results of all rules of the chain, because its limits apply to all of
	// them together.
	results *ruleresult.Assigner
	// values holds the values of the source to which each scope of the plan leads, by the index of
	// the scope. They are found when the first rule of the scope is evaluated.
	values []scopeValues
	shared sharedValues
}

// scopeValues holds the values of the source to which one scope leads.
type scopeValues struct {
	known   bool
	matches []rulepath.Location
	scope   *plannedScope
	// activations holds, for each of the matches, the variables that rules read when they are
	// evaluated for it. If only one rule has the scope, there is a single activation for one match
	// after the other, so that large lists take little memory.
	activations []schemaexpression.Activation
}

// newConversion returns the conversion of an object. part is nil for a whole object.
func newConversion(plan *plan, source map[string]any, apiVersion string, budget uint64, results *ruleresult.Assigner, part *part) *conversion {
	c := &conversion{plan: plan, source: source, apiVersion: apiVersion, budget: budget, results: results, partial: part != nil}
	if c.partial && part.defaulted != nil {
		defaults := *c
		defaults.source = part.defaulted
		c.defaults = &defaults
	}
	return c
}

// run returns the converted object. An error has no versions and no object yet; the caller sets
// them.
func (c *conversion) run(ctx context.Context) (map[string]any, *Error) {
	c.target = c.plan.edits.copy(c.source).(map[string]any)
	c.shared.ctx = ctx
	if c.defaults != nil {
		c.defaults.shared.ctx = ctx
	}
	for i := range c.plan.rules {
		if err := c.apply(ctx, &c.plan.rules[i]); err != nil {
			return nil, err
		}
	}
	if err := c.checkOpenFields(); err != nil {
		return nil, err
	}
	if c.plan.changesMetadata {
		if err := c.guardMetadata(); err != nil {
			if !c.partial {
				return nil, err
			}
			c.keepMetadata()
		}
	}
	c.target["apiVersion"], c.target["kind"] = c.apiVersion, c.source["kind"]
	return c.target, nil
}

// apply evaluates a rule for all values at its scope and sets its field.
func (c *conversion) apply(ctx context.Context, rule *plannedRule) *Error {
	values, err := c.valuesAt(rule.scopeIndex)
	switch {
	case errors.Is(err, rulepath.ErrTooManyLocations):
		return rule.fail(ReasonCost, nil, fmt.Errorf("the object has more than %d values at the scope", maxMatches))
	case err != nil:
		return rule.fail(ReasonType, nil, err)
	case uint64(len(values.matches)) > c.budget:
		return rule.fail(ReasonCost, nil, errObjectCost)
	}
	for i := range values.matches {
		at := values.matches[i].Path
		evaluation := rule.program.Evaluate(ctx, c.activation(values, i))
		if !c.charge(evaluation) {
			return rule.fail(ReasonCost, at, errObjectCost)
		}
		if evaluation.Err != nil {
			reason, cause := causeOf(evaluation, rule.readsTable)
			if c.partial && reason == ReasonEvaluation {
				c.applyDefaulted(ctx, rule, at)
				continue
			}
			return rule.fail(reason, at, cause)
		}
		if err := c.assign(rule, at, evaluation); err != nil {
			if c.partial {
				c.unset(rule, at)
				continue
			}
			return rule.fail(ReasonType, at, err)
		}
	}
	return nil
}

var errObjectCost = fmt.Errorf("the rules exceed the cost that the conversion of one object may have (%d)", maxObjectCost)

// charge subtracts the cost of an evaluation from the budget. It returns false if the budget is
// smaller.
func (c *conversion) charge(evaluation schemaexpression.EvaluationResult) bool {
	cost := max(evaluation.Cost, rulelimit.MinEvaluationCost)
	if cost > c.budget {
		return false
	}
	c.budget -= cost
	return true
}

// causeOf returns the reason and the error for a failed evaluation of a rule or variable. If a rule
// failed because of a variable, they are those of the variable.
func causeOf(evaluation schemaexpression.EvaluationResult, readsTable bool) (ErrorReason, error) {
	var variable *variableError
	switch {
	case errors.As(evaluation.Err, &variable):
		return variable.reason, variable
	case evaluation.HasCost && evaluation.Cost > maxObjectCost:
		return ReasonCost, evaluation.Err
	default:
		return ReasonEvaluation, explainFailure(evaluation.Err, readsTable)
	}
}

// valuesAt returns the values of the source to which a scope leads. scope is its index in the plan.
func (c *conversion) valuesAt(scope int) (*scopeValues, error) {
	if c.values == nil {
		c.values = make([]scopeValues, len(c.plan.scopes))
	}
	values := &c.values[scope]
	if values.known {
		return values, nil
	}
	matches, err := c.plan.scopes[scope].path.Locations(c.source, maxMatches)
	if err != nil {
		return nil, err
	}
	values.known, values.matches, values.scope = true, matches, &c.plan.scopes[scope]
	activations := min(len(matches), 1)
	if c.plan.scopes[scope].shared {
		activations = len(matches)
	}
	values.activations = make([]schemaexpression.Activation, activations)
	return values, nil
}

// activation returns the variables that rules read when they are evaluated for the value
// v.matches[match]. If only one rule has the scope, the next call overwrites them with those of
// another value.
func (c *conversion) activation(v *scopeValues, match int) *schemaexpression.Activation {
	isShared := len(v.activations) == len(v.matches)
	a := &v.activations[0]
	if isShared {
		a = &v.activations[match]
	}
	if a.Self == nil || !isShared {
		*a = schemaexpression.Activation{Values: c, StopAtCostLimit: true}
		if len(v.scope.path) == 0 {
			a.Self = c.root()
		} else {
			a.Self = schemaexpression.Value(v.matches[match].Value, v.scope.schema)
		}
		if v.scope.lastEach >= 0 {
			a.Values = entryValues{c, &v.matches[match].Path[v.scope.lastEach]}
		}
	}
	return a
}

// assign sets the rule's field in the target to the result of an evaluation. at is the path of the
// value that the rule was evaluated for.
func (c *conversion) assign(rule *plannedRule, at rulepath.Path, evaluation schemaexpression.EvaluationResult) error {
	if entry := at[:rule.existing]; rule.existing > 0 {
		_, found, err := entry.Get(c.target)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("the converted object has no %s, because an earlier rule has replaced a value above it", entry)
		}
	}
	path := rule.field
	if len(at) > 0 {
		path = at.Join(rule.field)
	}
	existing, _, err := path.Get(c.target)
	if err != nil {
		return err
	}
	value, set, err := c.results.Assign(existing, evaluation.Value, rule.target)
	if err != nil {
		return err
	}
	switch object, isObject := value.(map[string]any); {
	case len(path) > 0 && set:
		return path.Set(c.target, value)
	case len(path) > 0:
		return path.Delete(c.target)
	case !set:
		return nil // The object itself cannot be unset.
	case !isObject:
		return errors.New("the result is not an object")
	default:
		c.target = object
		return nil
	}
}

// prune returns a copy of the object without what the plan's target version does not specify.
func (p *plan) prune(object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	pruning.Prune(object, p.to.schema, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, p.to.schema)
	return object
}

// fail returns the error of a conversion in which the rule failed. at is the path of the value that
// the rule was evaluated for.
func (r *plannedRule) fail(reason ErrorReason, at rulepath.Path, err error) *Error {
	id := r.id
	id.At = at.String()
	return &Error{Reason: reason, Rule: &id, Err: err}
}
