// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/locations"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// maxAnnotationBytes is the maximum length of the value of an audit annotation. Longer values are
// truncated.
const maxAnnotationBytes = 10 * 1024

// paramResult is the result of evaluating a policy for an object and a param. Bindings with the
// same param share it.
type paramResult struct {
	// validations is the number of validations that were evaluated. It is 0 if the policy failed
	// altogether.
	validations int
	// violations holds the decisions that are not Admitted. They have no names of a policy and a
	// binding, because bindings share them.
	violations  []Decision
	annotations []annotationResult
	// conditions is set if match conditions ended the evaluation.
	conditions *policy.ConditionReport
	// ignored counts the failures of match conditions and audit annotations that failurePolicy
	// ignores.
	ignored int
	// located holds the locations for which validations with a scope are violated, by the positions
	// of the validations. Messages and Decision.Field name them. It is nil if there are none.
	located map[int]*locations.Location
}

type annotationResult struct {
	key, value string
	failure    *Decision
}

// cleared returns an empty result that reuses the slices of f.
func (f *paramResult) cleared() paramResult {
	clear(f.violations)
	clear(f.annotations)
	return paramResult{violations: f.violations[:0], annotations: f.annotations[:0]}
}

// outcome returns the outcome of the evaluation. evaluated is false if match conditions exempt the
// request from the policy.
func (f *paramResult) outcome() (_ policy.Outcome, evaluated bool) {
	outcome := policy.Admitted
	if f.ignored > 0 {
		outcome = policy.Failed
	}
	for i := range f.violations {
		if f.violations[i].Outcome == Failed {
			outcome = policy.Failed
		}
		outcome = max(outcome, policy.Denied)
	}
	for i := range f.annotations {
		if f.annotations[i].failure != nil {
			outcome = policy.Failed
		}
	}
	return outcome, f.conditions == nil || outcome != policy.Admitted
}

// fail replaces the content of f by one failure without a validation, because the policy as a whole
// could not be evaluated.
func (f *paramResult) fail(failurePolicy v1.FailurePolicyType, err error) {
	*f = f.cleared()
	f.violations = append(f.violations, failed(Decision{Index: -1}, failurePolicy, err))
}

// evaluate evaluates the expressions of the policy on s, and replaces the content of found by the
// result. It uses memory for its series of expressions, one after the other. There are three cost
// budgets: for match conditions, for validations with their messages, and for audit annotations.
func (p compiledPolicy) evaluate(ctx context.Context, memory *activation.Memory, s activation.Subject, found *paramResult) {
	*found = found.cleared()
	if report, err := p.CheckConditions(ctx, memory, s); report != nil {
		switch {
		case err == nil:
		case p.FailurePolicy == v1.Ignore:
			found.ignored = 1
			klog.FromContext(ctx).V(2).Info("Policy left out as failurePolicy is Ignore", "policy", p.Name, "err", err)
		default:
			found.fail(p.FailurePolicy, err)
		}
		found.conditions = report
		return
	}
	err := p.validate(ctx, memory, s, found)
	if err == nil && len(p.Body.annotations) > 0 {
		err = p.annotate(ctx, memory, s, found)
	}
	if err != nil {
		found.fail(p.FailurePolicy, err)
	}
}

// validate evaluates the validations, and the messages of those that are not satisfied. An error
// ends the evaluation of the policy.
func (p compiledPolicy) validate(ctx context.Context, memory *activation.Memory, s activation.Subject, found *paramResult) error {
	if len(p.Body.validations) == 0 {
		return nil
	}
	series := memory.Begin(ctx, s, policyspec.Validation, p.Variables, celconfig.RuntimeCELCostBudget)
	// Reading the clock takes as long as a simple expression. A reading for each validation would
	// add 8 µs to a request with 100 policies, a tenth of what they cost.
	start := time.Now()
	for i := range p.Body.validations {
		v := &p.Body.validations[i]
		var value ref.Val
		var err error
		var at *locations.Location
		if v.scope == nil {
			value, err = v.Evaluate(series)
		} else {
			value, at, err = v.evaluateScoped(memory, series, s.Input)
		}
		// Comparing values of the type ref.Val takes several times as long.
		if satisfied, _ := value.(types.Bool); err == nil && bool(satisfied) {
			continue
		}
		if expression.IsFatal(err) {
			return err
		}
		d := Decision{Index: i, Outcome: Denied, Elapsed: time.Since(start), Field: v.field}
		start = start.Add(d.Elapsed)
		if at != nil {
			d.Field = at.Field()
			if found.located == nil {
				found.located = map[int]*locations.Location{}
			}
			found.located[i] = at
		}
		if err != nil {
			d = failed(d, v.failurePolicy, err)
		}
		found.violations = append(found.violations, d)
	}
	found.validations = len(p.Body.validations)
	if len(found.violations) == 0 {
		return nil
	}
	p.explain(ctx, memory, s, found)
	return nil
}

// explain sets the message and the reason of each denial.
func (p compiledPolicy) explain(ctx context.Context, memory *activation.Memory, s activation.Subject, found *paramResult) {
	var series *expression.Series
	for i := range found.violations {
		d := &found.violations[i]
		if d.Outcome != Denied {
			continue
		}
		v := &p.Body.validations[d.Index]
		var computed ref.Val
		var err error
		if !v.computedMessage.Absent() {
			if series == nil {
				series = memory.Continue(ctx, s, policyspec.Message, p.Variables)
			}
			if err = locate(memory, series, found.located[d.Index], &v.computedMessage); err == nil {
				computed, err = v.computedMessage.Evaluate(series)
			}
			if expression.IsFatal(err) {
				p.failMessages(found, err)
				return
			}
		}
		d.Message, d.Reason = v.message(ctx, found.located[d.Index], computed, err), *cmp.Or(v.Reason, &defaultReason)
	}
}

var defaultReason = metav1.StatusReasonInvalid

// failMessages makes the decisions of all validations failures, because the message expressions
// exceed the cost budget. Validations that failed by themselves keep their errors.
func (p compiledPolicy) failMessages(found *paramResult, err error) {
	violations := slices.Clone(found.violations)
	found.violations = found.violations[:0]
	for i := range found.validations {
		d := Decision{Index: i, Field: p.Body.validations[i].field}
		if len(violations) > 0 && violations[0].Index == i {
			d, violations = violations[0], violations[1:]
		}
		if d.Outcome != Failed {
			// Not wrapped, because Kubernetes counts this failure as invalid, not as out of budget.
			d = failed(Decision{Index: i, Elapsed: d.Elapsed, Field: d.Field}, p.FailurePolicy, fmt.Errorf("failed messageExpression: %v", err))
		}
		found.violations = append(found.violations, d)
	}
}

// message returns the message of a validation that is not satisfied: the value of messageExpression
// if it is usable, otherwise the validation's message, otherwise a message that quotes the
// expression. If there is a scope, that message also names the value for which the expression is
// false. err is the error of messageExpression.
func (v *validation) message(ctx context.Context, at *locations.Location, computed ref.Val, err error) string {
	logger := klog.FromContext(ctx).V(2)
	switch text, isText := stringValue(computed); {
	case err != nil:
		logger.Info("Message expression failed, using the fixed message", "messageExpression", v.MessageExpression, "err", err)
	case !isText || text == "":
	case len(text) > celconfig.MaxEvaluatedMessageExpressionSizeBytes:
		logger.Info("Computed message is too long, using the fixed message", "messageExpression", v.MessageExpression, "bytes", len(text))
	case strings.Contains(text, "\n"):
		logger.Info("Computed message has line breaks, using the fixed message", "messageExpression", v.MessageExpression)
	default:
		return text
	}
	if fixed := strings.TrimSpace(v.Message); fixed != "" {
		return fixed
	}
	if at != nil {
		return fmt.Sprintf("failed expression for %s: %s", at.Describe(), strings.TrimSpace(v.Expression))
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

func stringValue(value ref.Val) (string, bool) {
	text, ok := value.(types.String)
	return strings.TrimSpace(string(text)), ok
}

// annotate evaluates the audit annotations. An error ends the evaluation of the policy.
func (p compiledPolicy) annotate(ctx context.Context, memory *activation.Memory, s activation.Subject, found *paramResult) error {
	series := memory.Begin(ctx, s, policyspec.AuditAnnotation, p.Variables, celconfig.RuntimeCELCostBudget)
	start := time.Now()
	for i := range p.Body.annotations {
		annotation := &p.Body.annotations[i]
		value, err := annotation.Evaluate(series)
		if expression.IsFatal(err) {
			return err
		}
		text, isText := stringValue(value)
		switch {
		case err != nil && p.FailurePolicy == v1.Ignore:
			found.ignored++
			klog.FromContext(ctx).V(2).Info("Audit annotation left out as failurePolicy is Ignore", "policy", p.Name, "key", annotation.key, "err", err)
		case err != nil:
			failure := failed(Decision{Elapsed: time.Since(start)}, p.FailurePolicy, err)
			start = start.Add(failure.Elapsed)
			found.annotations = append(found.annotations, annotationResult{key: annotation.key, failure: &failure})
		case isText && text != "":
			found.annotations = append(found.annotations, annotationResult{key: annotation.key, value: text[:min(len(text), maxAnnotationBytes)]})
		}
	}
	return nil
}

func failed(d Decision, failurePolicy v1.FailurePolicyType, err error) Decision {
	d.Outcome, d.Ignored, d.Message, d.Err = Failed, failurePolicy == v1.Ignore, err.Error(), err
	return d
}
