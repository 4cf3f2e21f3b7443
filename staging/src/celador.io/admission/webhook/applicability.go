// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"time"

	"github.com/google/cel-go/interpreter"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/admission/matching"
)

// An Applicability tells whether a webhook is called for a request.
type Applicability struct {
	// Matches reports whether the webhook is called.
	Matches bool
	// Target is the resource and kind in which the webhook expects the request. Empty unless
	// Matches is set.
	Target matching.Target
	// Excluded is set if the rules and selectors match, but match conditions keep the webhook from
	// being called. The fields below are set only then.
	Excluded bool
	// Condition is the name of the first false match condition. Empty if none is false.
	Condition string
	// Errors is the number of match conditions that could not be evaluated, not counting those
	// after the first false one.
	Errors int
	// Err is why match conditions could not be evaluated, if none is false. It wraps the errors of
	// the expressions.
	Err error
	// Elapsed is the time that the evaluation of match conditions took.
	Elapsed time.Duration
}

// Candidates returns the webhooks of the set that may be called for the request, by their
// positions, in the order of the set. The others are not called. The result must not be changed.
func (r *Request) Candidates() []matching.Candidate { return r.set.index.Candidates(r.matchable()) }

// Match decides whether a candidate is called for the request.
//
// If err is not nil, the request must be rejected with it. err is then an *apierrors.StatusError
// with the code, reason and message of kube-apiserver: 404 if a namespace selector applies to a
// namespace that does not exist, 403 if match conditions cannot be evaluated and failurePolicy is
// Fail, or if the context of the request ended meanwhile, and 500 otherwise. If match conditions
// fail, Excluded and Err of the Applicability are set, too.
func (r *Request) Match(c matching.Candidate) (applicability Applicability, err error) {
	w := r.set.webhooks[c.Position]
	target, matches := &r.own, true
	if !c.Certain {
		var found matching.Target
		if found, matches, err = w.criteria.Match(r.matchable()); err != nil {
			if _, ok := err.(*apierrors.StatusError); !ok {
				err = apierrors.NewInternalError(err)
			}
			return Applicability{}, err
		}
		target = &found
	}
	if applicability = (Applicability{Matches: matches, Target: *target}); !matches || len(w.matchConditions) == 0 {
		return applicability, nil
	}
	version, err := r.version(&target.Kind)
	if err != nil {
		return Applicability{}, apierrors.NewInternalError(err)
	}
	start := time.Now()
	result := w.conditions().Check(r.series(version))
	if !result.Excluded && result.Err == nil {
		return applicability, nil
	}
	applicability = Applicability{Excluded: true, Condition: result.Condition, Errors: result.Errors, Err: result.Err, Elapsed: time.Since(start)}
	// failurePolicy Ignore does not cover interruptions: the request would be admitted although
	// its match conditions were not evaluated.
	if result.Err != nil && (!w.failsOpen || errors.Is(result.Err, interpreter.InterruptError{})) {
		err = apierrors.NewForbidden(r.attributes.GetResource().GroupResource(), r.attributes.GetName(), result.Err)
	}
	return applicability, err
}
