// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"

	"celador.io/admission/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/policyspec"
)

// maxAnnotationBytes is the maximum length of the value of an audit annotation. Longer values are
// truncated.
const maxAnnotationBytes = 10 * 1024

// finding is the result of evaluating a policy for an object and a param. All bindings share it.
type finding struct {
	decisions   []Decision
	annotations []annotationResult
	// conditions is set if match conditions ended the evaluation.
	conditions *ConditionReport
	// ignored counts the failures of match conditions and audit annotations that failurePolicy
	// ignores.
	ignored int
}

type annotationResult struct {
	key, value string
	failure    *Decision
}

// evaluate evaluates the expressions of the policy. Match conditions, validations with their
// messages, and audit annotations have a cost budget each.
func (p compiledPolicy) evaluate(ctx context.Context, s activation.Subject) *finding {
	if report, err := p.CheckConditions(ctx, s); report != nil {
		result := &finding{}
		switch {
		case err == nil:
		case p.FailurePolicy == v1.Ignore:
			result.ignored = 1
			klog.FromContext(ctx).V(2).Info("Policy left out as failurePolicy is Ignore", "policy", p.Name, "err", err)
		default:
			result = p.failedAltogether(err)
		}
		result.conditions = report
		return result
	}
	decisions, err := p.validate(ctx, s)
	if err != nil {
		return p.failedAltogether(err)
	}
	annotations, ignored, err := p.annotate(ctx, s)
	if err != nil {
		return p.failedAltogether(err)
	}
	return &finding{decisions: decisions, annotations: annotations, ignored: ignored}
}

func (p compiledPolicy) validate(ctx context.Context, s activation.Subject) ([]Decision, error) {
	if len(p.Body.validations) == 0 {
		return nil, nil
	}
	budget := expression.NewBudget(celconfig.RuntimeCELCostBudget)
	series := p.NewSeries(ctx, s, policyspec.Validation, budget)
	decisions := make([]Decision, len(p.Body.validations))
	start := time.Now()
	for i := range p.Body.validations {
		value, err := p.Body.validations[i].Evaluate(series)
		if expression.IsFatal(err) {
			return nil, err
		}
		end := time.Now()
		decisions[i] = Decision{Index: i, Outcome: Admitted, Elapsed: end.Sub(start)}
		start = end
		if err != nil {
			decisions[i] = failed(decisions[i], p.Body.validations[i].failurePolicy, err)
		} else if value != types.True {
			decisions[i].Outcome = Denied
		}
	}

	messages, messagesErr := p.evaluateMessages(ctx, s, decisions, budget)
	for i := range decisions {
		d := &decisions[i]
		switch {
		case d.Outcome == Failed:
		case messagesErr != nil:
			// Not wrapped, because Kubernetes counts this failure as invalid, not as out of budget.
			*d = failed(*d, p.FailurePolicy, fmt.Errorf("failed messageExpression: %v", messagesErr))
		case d.Outcome == Denied:
			var computed messageResult
			if messages != nil {
				computed = messages[i]
			}
			d.Message = p.Body.validations[i].message(ctx, computed)
			d.Reason = p.Body.validations[i].reason()
		}
	}
	return decisions, nil
}

// evaluateMessages evaluates the message expressions of the validations that are not
// satisfied. The result is nil if there are none.
func (p compiledPolicy) evaluateMessages(ctx context.Context, s activation.Subject, decisions []Decision, budget *expression.Budget) ([]messageResult, error) {
	var messages []messageResult
	var series *expression.Series
	for i := range p.Body.validations {
		message := &p.Body.validations[i].computedMessage
		if message.Absent() || decisions[i].Outcome != Denied {
			continue
		}
		if series == nil {
			messages = make([]messageResult, len(p.Body.validations))
			series = p.NewSeries(ctx, s, policyspec.Message, budget)
		}
		value, err := message.Evaluate(series)
		if expression.IsFatal(err) {
			return nil, err
		}
		messages[i] = messageResult{value, err}
	}
	return messages, nil
}

type messageResult struct {
	value ref.Val
	err   error
}

// message returns the message of a validation that is not satisfied: the value of messageExpression if
// it is usable, otherwise the validation's message, otherwise a message that quotes the expression.
func (v *validation) message(ctx context.Context, computed messageResult) string {
	logger := klog.FromContext(ctx).V(2)
	switch text, isText := stringValue(computed.value); {
	case computed.err != nil:
		logger.Info("Message expression failed, using the fixed message", "messageExpression", v.MessageExpression, "err", computed.err)
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
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

func stringValue(value ref.Val) (string, bool) {
	text, ok := value.(types.String)
	return strings.TrimSpace(string(text)), ok
}

func (v *validation) reason() metav1.StatusReason {
	if v.Reason == nil {
		return metav1.StatusReasonInvalid
	}
	return *v.Reason
}

// annotate returns the audit annotations and the number of ignored failures.
func (p compiledPolicy) annotate(ctx context.Context, s activation.Subject) (results []annotationResult, ignored int, err error) {
	if len(p.Body.annotations) == 0 {
		return nil, 0, nil
	}
	budget := expression.NewBudget(celconfig.RuntimeCELCostBudget)
	series := p.NewSeries(ctx, s, policyspec.AuditAnnotation, budget)
	for i := range p.Body.annotations {
		annotation := &p.Body.annotations[i]
		start := time.Now()
		value, err := annotation.Evaluate(series)
		if expression.IsFatal(err) {
			return nil, 0, err
		}
		elapsed := Decision{Elapsed: time.Since(start)}
		text, isText := stringValue(value)
		switch {
		case err != nil && p.FailurePolicy == v1.Ignore:
			ignored++
			klog.FromContext(ctx).V(2).Info("Audit annotation left out as failurePolicy is Ignore", "policy", p.Name, "key", annotation.key, "err", err)
		case err != nil:
			failure := failed(elapsed, p.FailurePolicy, err)
			results = append(results, annotationResult{key: annotation.key, failure: &failure})
		case isText && text != "":
			results = append(results, annotationResult{key: annotation.key, value: text[:min(len(text), maxAnnotationBytes)]})
		}
	}
	return results, ignored, nil
}

func failed(d Decision, policy v1.FailurePolicyType, err error) Decision {
	d.Outcome, d.Ignored, d.Message, d.Err = Failed, policy == v1.Ignore, err.Error(), err
	return d
}

func (p compiledPolicy) failedAltogether(err error) *finding {
	return &finding{decisions: []Decision{failed(Decision{}, p.FailurePolicy, err)}}
}
