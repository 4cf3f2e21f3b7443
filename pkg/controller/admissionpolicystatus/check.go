// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/typecheck"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// outcome is what a check of a policy found. Immutable but for changed.
type outcome struct {
	uid        types.UID
	generation int64
	*typecheck.Result
	// broken are the expressions that do not compile, whatever the types.
	broken []error
	// resources are the custom resources that were looked for.
	resources []servedtypes.CustomResource
	transient bool
	// elsewhere is how many changes of other servers came before.
	elsewhere int64
	// changed is set while no status says what has changed at another server. Belongs to
	// whoever syncs the policy.
	changed bool
}

// outcomeOf checks the policy and tells listeners, or returns the last outcome if nothing
// has changed that a check would look at.
func (c *Controller) outcomeOf(ctx context.Context, p *policy) *outcome {
	last, known := c.outcomes.Load(p.key())
	if known && c.holds(last.(*outcome), p) {
		return last.(*outcome)
	}
	elsewhere := c.elsewhere.Load()
	view := c.types.View(ctx)
	o := &outcome{
		uid:        p.UID,
		generation: p.Generation,
		Result:     p.check(c.checker.With(view, view)),
		broken:     p.compile(),
		resources:  view.Seen(),
		transient:  view.Transient(),
		elsewhere:  elsewhere,
	}
	o.changed = known && o.changedElsewhere(last.(*outcome))
	c.outcomes.Store(p.key(), o)
	err := o.err()
	for _, listener := range c.listeners {
		listener.PolicyChecked(p.kind.name, p.Name, p.UID, p.Generation, err)
	}
	return o
}

func (c *Controller) holds(o *outcome, p *policy) bool {
	return o.uid == p.UID && o.generation == p.Generation && o.elsewhere == c.elsewhere.Load() &&
		!o.transient && !o.unavailable() &&
		!slices.ContainsFunc(o.resources, func(r servedtypes.CustomResource) bool { return !c.types.Same(r) })
}

// unavailable tells whether some types could not be found out.
func (o *outcome) unavailable() bool {
	return slices.ContainsFunc(o.Unchecked, func(u typecheck.Unchecked) bool { return u.Reason == typecheck.Unavailable })
}

// err returns what is wrong with the expressions.
func (o *outcome) err() error {
	err := errors.Join(slices.Concat(o.broken, o.typeErrors())...)
	if err == nil {
		return nil
	}
	return errors.New(cut(err.Error(), maxError))
}

// typeErrors returns those that count where types are enforced.
func (o *outcome) typeErrors() []error {
	var errs []error
	for _, f := range o.Enforceable().Findings {
		errs = append(errs, fmt.Errorf("%s does not fit %v: %s", f.Field, f.Type, f.Message))
	}
	return errs
}
