// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// outcome is what a check of a policy found, as far as it fits into a status: it is kept as
// long as the policy. Immutable but for changed.
type outcome struct {
	uid        types.UID
	generation int64
	// broken says which expressions do not compile, whatever the types, and misfits which do not
	// fit types in a way that counts where types are enforced. Nil if there are none.
	broken, misfits error
	// warnings say which do not fit types, whether that counts or not, and fields in short.
	warnings []v1.ExpressionWarning
	fields   string
	// omitted is what was not checked against.
	omitted []typecheck.Unchecked
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
	// The admission plugin compiles the same programs at the same time. The cache compiles each
	// program once, so this call waits for the plugin instead of taking CPU time from it.
	broken := p.compile()
	view := c.types.View(ctx)
	result := p.check(c.checker.With(view))
	o := &outcome{
		uid:        p.UID,
		generation: p.Generation,
		broken:     listed(broken, error.Error),
		misfits:    listed(result.Enforceable().Findings, misfit),
		warnings:   limited(result.Warnings()),
		fields:     fieldsOf(result.Findings),
		omitted:    result.Unchecked,
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
	return slices.ContainsFunc(o.omitted, func(u typecheck.Unchecked) bool { return u.Reason == typecheck.Unavailable })
}

// err returns what is wrong with the expressions.
func (o *outcome) err() error {
	err := errors.Join(o.broken, o.misfits)
	if err == nil {
		return nil
	}
	return errors.New(cut(err.Error(), maxError))
}

func misfit(f typecheck.Finding) string {
	return fmt.Sprintf("%s does not fit %v: %s", f.Field, f.Type, f.Message)
}

// fieldsOf returns the fields with expressions that do not fit.
func fieldsOf(findings []typecheck.Finding) string {
	var fields []string
	for _, f := range findings {
		fields = append(fields, f.Field)
	}
	return cut(strings.Join(slices.Compact(fields), ", "), maxMessage)
}
