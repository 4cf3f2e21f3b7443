// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// objectBudget limits the cost of all rules for one object, in CEL cost units.
const objectBudget = rulelimit.MaxObjectCost

var errBudget = errors.New("the rules before it have used up the cost limit of an object")

// A walk is one pass of the rules over an object.
type walk struct {
	ctx    context.Context
	budget int64
	// results converts the results of all rules, because its limits apply to all of them together.
	results ruleresult.Assigner
	// changes counts the fields that have been set.
	changes int
	// dry makes the walk evaluate rules without setting fields.
	dry bool
	// all makes a dry walk evaluate also the rules of fields that are set.
	all bool
	// failed is called for each rule that returns an error.
	failed func(ruleFailure)
	// unset is called in a dry walk for each rule that would set an unset field. The rules have run
	// before, so either the cost limit ended them, or the rule reads a field that a later rule has
	// set. Nil ignores these rules.
	unset func(ruleFailure)
	// ended is set when no other rule can be evaluated, because the budget is used up or ctx is
	// done.
	ended bool
}

// A ruleFailure is a rule that returns an error.
type ruleFailure struct {
	rule   *rule
	reason reason
	err    error
	// at is the value for which the rule was evaluated.
	at *instance
}

// An instance is a value of an object that rules read as self.
type instance struct {
	place *place
	value any
	old   correlation
	// parent is the value around this one. Nil for the object.
	parent *instance
	// key is the property or key of the value in its parent, or index its position there.
	key   string
	index int

	// activation holds self for the rules. It is nil until a rule is evaluated. changes is the
	// number of changes of the object before activation was made: after a further change,
	// activation is outdated and made anew.
	activation *schemaexpression.Activation
	changes    int
}

// self returns the variables of the rules for the instance. CEL values may cache what they have
// read, so self is made anew after each change of the object.
func (s *instance) self(w *walk) *schemaexpression.Activation {
	if s.activation == nil || s.changes != w.changes {
		s.activation = &schemaexpression.Activation{Self: schemaexpression.Value(s.value, s.place.self), StopAtCostLimit: true}
		s.changes = w.changes
	}
	return s.activation
}

// visit runs the rules of the place and of the places in it.
func (w *walk) visit(s *instance) {
	for _, r := range s.place.rules {
		w.apply(s, r)
	}
	switch value := s.value.(type) {
	case map[string]any:
		w.visitProperties(s, value)
		w.visitValues(s, value)
	case []any:
		if s.place.items == nil {
			return
		}
		for i, item := range value {
			if w.ended {
				return
			}
			if item != nil {
				w.visit(&instance{place: s.place.items, value: item, old: s.old.index(i), parent: s, index: i})
			}
		}
	}
}

func (w *walk) visitProperties(s *instance, object map[string]any) {
	for _, p := range s.place.properties {
		for _, r := range p.own {
			w.apply(s, r)
		}
		if value := object[p.property]; value != nil && p.leadsToRules() {
			w.visit(&instance{place: p, value: value, old: s.old.key(p.property), parent: s, key: p.property})
		}
	}
}

// leadsToRules reports whether values of the place are the self of rules, or contain such values.
func (p *place) leadsToRules() bool {
	return len(p.rules) > 0 || len(p.properties) > 0 || p.items != nil || p.values != nil
}

func (w *walk) visitValues(s *instance, object map[string]any) {
	if s.place.values == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if w.ended {
			return
		}
		if value := object[key]; value != nil {
			w.visit(&instance{place: s.place.values, value: value, old: s.old.key(key), parent: s, key: key})
		}
	}
}

// apply evaluates a rule if its field is unset in an object that exists, and sets the field.
func (w *walk) apply(s *instance, r *rule) {
	object, name := r.holder(s.value)
	if object == nil {
		return
	}
	if w.ended || !w.all && r.isSet(object, name) {
		return
	}
	if w.ended = w.ctx.Err() != nil; w.ended {
		return
	}
	value, set, reason, err := w.evaluate(s, r)
	if err != nil {
		w.ended = errors.Is(err, errBudget)
		w.failed(ruleFailure{r, reason, err, s})
		return
	}
	if !set {
		return
	}
	if w.dry {
		if w.unset != nil {
			w.unset(ruleFailure{rule: r, at: s})
		}
		return
	}
	defaulting.Default(value, r.target)
	object[name] = value
	w.changes++
}

// holder returns the object that contains the field of the rule, and the name of the field in it.
// It returns nil if there is no such object.
func (r *rule) holder(self any) (map[string]any, string) {
	last := len(r.field) - 1
	// If a value on the way is not an object, the field cannot be set. Validation by the schema
	// reports such a value.
	value, _, _ := r.field[:last].Get(self)
	object, _ := value.(map[string]any)
	return object, r.field[last].Name
}

// isSet reports whether the field of the rule is set in the object that holder returns. A null of a
// field that is not nullable is unset, as for static defaults.
func (r *rule) isSet(object map[string]any, name string) bool {
	existing, found := object[name]
	return found && (existing != nil || r.target.Nullable)
}

func (w *walk) evaluate(s *instance, r *rule) (any, bool, reason, error) {
	if r.program == nil {
		return nil, false, reasonInvalid, r.err
	}
	if w.budget <= 0 {
		return nil, false, reasonCost, errBudget
	}
	evaluation := r.program.Evaluate(w.ctx, s.self(w))
	w.budget -= rulelimit.MinEvaluationCost
	if evaluation.HasCost {
		w.budget -= int64(min(evaluation.Cost, objectBudget))
	}
	if evaluation.Err != nil {
		if evaluation.HasCost && evaluation.Cost > objectBudget {
			return nil, false, reasonCost, evaluation.Err
		}
		return nil, false, reasonEvaluation, evaluation.Err
	}
	value, set, err := w.results.Assign(nil, evaluation.Value, r.target)
	if err != nil {
		return nil, false, reasonResult, fmt.Errorf("the result does not fit the schema of the field: %w", err)
	}
	return value, set, "", nil
}

// path returns the path of self. It is nil for the object.
func (s *instance) path() *field.Path {
	switch {
	case s.parent == nil:
		return nil
	case s.place == s.parent.place.items:
		return s.parent.path().Index(s.index)
	case s.place == s.parent.place.values:
		return s.parent.path().Key(s.key)
	default:
		return s.parent.path().Child(s.key)
	}
}

// fieldPath returns the path of the field that the rule would have set.
func (f *ruleFailure) fieldPath() *field.Path {
	path := f.at.path()
	for _, step := range f.rule.field {
		path = path.Child(step.Name)
	}
	return path
}
