// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"sync"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/interpreter"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/admission/expression"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/matching"
)

// A Webhook decides which requests an admission webhook is called for, by its rules, selectors
// and match conditions. Safe for concurrent use.
type Webhook struct {
	// criteria is nil if the webhook has no rules and so matches no request.
	criteria *matching.Criteria
	// conditions compiles the match conditions when they are first needed. Nil if there are none.
	conditions func() matchconditions.Conditions
	failsOpen  bool
	reinvoked  bool
}

// CompileValidating returns a webhook of a ValidatingWebhookConfiguration. Fields that are nil
// have the defaults of the API. The webhook refers to the configuration, which must not be
// changed afterwards.
//
// A match condition that does not compile is no error of CompileValidating. As in Kubernetes, it
// fails for every request that the rules and selectors match.
func CompileValidating(w *admissionregistrationv1.ValidatingWebhook) *Webhook {
	return CompileMutating(&admissionregistrationv1.MutatingWebhook{
		Rules:             w.Rules,
		FailurePolicy:     w.FailurePolicy,
		MatchPolicy:       w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector,
		ObjectSelector:    w.ObjectSelector,
		MatchConditions:   w.MatchConditions,
	})
}

// CompileMutating is CompileValidating for a webhook of a MutatingWebhookConfiguration.
func CompileMutating(w *admissionregistrationv1.MutatingWebhook) *Webhook {
	compiled := &Webhook{
		criteria:  compileCriteria(w),
		failsOpen: w.FailurePolicy != nil && *w.FailurePolicy == admissionregistrationv1.Ignore,
		reinvoked: w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy,
	}
	if len(w.MatchConditions) > 0 {
		compiled.conditions = sync.OnceValue(func() matchconditions.Conditions {
			return matchconditions.Compile(expression.Default(), w.MatchConditions)
		})
	}
	return compiled
}

// FailsOpen reports whether failurePolicy is Ignore: a request is admitted if the webhook cannot
// be called.
func (w *Webhook) FailsOpen() bool { return w.failsOpen }

func compileCriteria(w *admissionregistrationv1.MutatingWebhook) *matching.Criteria {
	if len(w.Rules) == 0 {
		return nil
	}
	resources := &v1.MatchResources{
		NamespaceSelector: w.NamespaceSelector,
		ObjectSelector:    w.ObjectSelector,
		MatchPolicy:       (*v1.MatchPolicyType)(w.MatchPolicy),
	}
	for _, r := range w.Rules {
		rule := v1.RuleWithOperations{Rule: v1.Rule{
			APIGroups: r.APIGroups, APIVersions: r.APIVersions, Resources: r.Resources, Scope: (*v1.ScopeType)(r.Scope),
		}}
		for _, operation := range r.Operations {
			rule.Operations = append(rule.Operations, v1.OperationType(operation))
		}
		resources.ResourceRules = append(resources.ResourceRules, v1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	return matching.Compile(resources)
}

// A Decision tells whether a webhook is called for a request.
type Decision struct {
	// Matches reports whether the webhook is called.
	Matches bool
	// Target is the resource and kind in which the webhook expects the request. Empty unless
	// Matches is set.
	Target matching.Target
	// Excluded is set if rules and selectors match and match conditions keep the webhook from
	// being called. Only then, the fields below are set.
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

// Match decides whether the webhook is called for a request.
//
// If err is not nil, the request must be rejected with it. err is then an *apierrors.StatusError
// with the code, reason and message of kube-apiserver: 404 if a namespace selector applies to a
// namespace that does not exist, 403 if match conditions cannot be evaluated and failurePolicy is
// Fail or the context of the request ended meanwhile, and 500 otherwise. An error of match
// conditions sets Excluded and Err of the decision.
func (w *Webhook) Match(r *Request) (decision Decision, err error) {
	if w.criteria == nil {
		return Decision{}, nil
	}
	target, matches, err := w.criteria.Match(r.matchable())
	if err != nil {
		if _, ok := err.(*apierrors.StatusError); !ok {
			err = apierrors.NewInternalError(err)
		}
		return Decision{}, err
	}
	if !matches || w.conditions == nil {
		return Decision{Matches: matches, Target: target}, nil
	}
	version, err := r.version(target.Kind)
	if err != nil {
		return Decision{}, apierrors.NewInternalError(err)
	}
	start := time.Now()
	result := w.conditions().Check(r.series(version))
	if !result.Excluded && result.Err == nil {
		return Decision{Matches: true, Target: target}, nil
	}
	decision = Decision{Excluded: true, Condition: result.Condition, Errors: result.Errors, Err: result.Err, Elapsed: time.Since(start)}
	// failurePolicy Ignore does not cover interruptions: the request would be admitted although
	// its match conditions were not evaluated.
	if result.Err != nil && (!w.failsOpen || errors.Is(result.Err, interpreter.InterruptError{})) {
		err = apierrors.NewForbidden(r.attributes.GetResource().GroupResource(), r.attributes.GetName(), result.Err)
	}
	return decision, err
}
