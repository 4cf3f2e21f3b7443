// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

// Default sets unset fields of a custom resource by the rules, in place. The object must have its
// static defaults. A rule that returns an error leaves its field unset and counts in
// celador_crd_default_errors_total.
func (r *Rules) Default(object map[string]any) {
	if r == nil {
		return
	}
	// The interface ObjectDefaulter passes no context. The cost limits bound the time.
	w := &walk{ctx: context.Background(), budget: objectBudget, failed: func(f ruleFailure) { errorsTotal.WithLabelValues(r.crd, string(f.reason)).Inc() }}
	w.visit(&instance{place: r.root(), value: object})
}

// maxErrors limits the errors for one object, whose lists may have thousands of items that a rule
// fails for.
const maxErrors = 20

// Validate evaluates the rules whose fields Default has left unset, and returns their errors, at
// the paths of the fields. If there are very many, the last error counts those that are left out.
//
// On an update, old is the object before it: an error that the old object has, too, is left out, if
// the update does not change what the rule reads. old is nil on create. A rule that returns a value
// now, although its field is unset, is an error if the cost limit kept Default from evaluating it.
// Otherwise it reads a field that a later rule has set, which is no error.
//
// Validate changes neither object. It stops when ctx is done, with an error, and at the cost limit.
func (r *Rules) Validate(ctx context.Context, object, old map[string]any) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	more := 0
	report := func(f ruleFailure) {
		switch {
		case f.at.old.failedBefore(f.rule):
		case len(errs) < maxErrors:
			errs = append(errs, field.Invalid(f.fieldPath(), nil, f.detail()))
		default:
			more++
		}
	}
	var unset *ruleFailure
	walkWith := func(w walk) {
		w.ctx, w.budget, w.dry = ctx, objectBudget, true
		w.visit(&instance{place: r.root(), value: object, old: correlate(object, old, r.schema)})
	}
	exhausted := false
	walkWith(walk{
		failed: func(f ruleFailure) {
			exhausted = exhausted || errors.Is(f.err, errBudget)
			report(f)
		},
		unset: func(f ruleFailure) {
			if unset == nil {
				unset = &f
			}
		},
	})
	if unset != nil && !exhausted {
		// To know whether Default exceeded the cost limit, the rules of set fields must be charged,
		// too.
		walkWith(walk{all: true, failed: func(f ruleFailure) {
			if errors.Is(f.err, errBudget) {
				unset.reason, unset.err = reasonCost, errBudget
				report(*unset)
			}
		}})
	}
	if more > 0 {
		errs = append(errs, field.Invalid(nil, nil, fmt.Sprintf("no defaults: rules of %s fail for %d more fields; correct the errors above first", keyword, more)))
	}
	if ctx.Err() != nil {
		errs = append(errs, field.InternalError(nil, fmt.Errorf("%s was not evaluated for the whole object: %w", keyword, context.Cause(ctx))))
	}
	return errs
}

// detail returns the error text for the author of a custom resource, who may not know the rule.
func (f *ruleFailure) detail() string {
	return fmt.Sprintf("no default: the rule %q of %s fails: %v; set the field, or change the fields that the rule reads",
		ruleerror.Abbreviate(strings.TrimSpace(f.rule.source)), keyword, f.err)
}
