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

// Default sets the unset fields of a custom resource that the rules have values for. The object
// must have its static defaults. Default changes it in place. A rule that returns an error leaves
// its field unset and counts in celador_crd_default_errors_total.
func (r *Rules) Default(object map[string]any) {
	if r == nil {
		return
	}
	// ObjectDefaulter has no context. The cost limits end the evaluations.
	w := &walk{ctx: context.Background(), budget: objectBudget, failed: func(f ruleFailure) { errorsTotal.WithLabelValues(r.crd, string(f.reason)).Inc() }}
	w.visit(&instance{place: r.root(), value: object})
}

// maxErrors limits the errors for one object, whose lists may have thousands of items that a rule
// fails for.
const maxErrors = 20

// Validate evaluates the rules of the fields that are unset although Default has run, and returns
// the errors, at the paths of the fields: the first ones, and one that counts the others. On an
// update, old is the object before it: an error is left out if the old object has it too, because
// the field was unset and the update does not change what the rule reads. old is nil on create. A
// rule that has a value for a field that is unset is an error only if the cost limit of an object
// is why: otherwise it reads what a later rule sets. Validate changes neither object. It stops when
// ctx is done, with an error, and at the cost limit.
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
		// The fields that are set have cost Default something, too.
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

// detail returns the text for the author of a custom resource, who may not know the rule.
func (f *ruleFailure) detail() string {
	return fmt.Sprintf("no default: the rule %q of %s fails: %v; set the field, or change the fields that the rule reads",
		ruleerror.Abbreviate(strings.TrimSpace(f.rule.source)), keyword, f.err)
}
