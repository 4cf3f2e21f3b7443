// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"time"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"

	"celador.io/admission/activation"
	"celador.io/admission/expression"
)

// ConditionReport says that match conditions ended the evaluation of a policy.
type ConditionReport struct {
	// Policy is a name.
	Policy string
	// Errors is how many conditions could not be evaluated, of those before the first
	// false one.
	Errors int
	// Elapsed is the time that all conditions took.
	Elapsed time.Duration
}

// CheckConditions returns a report when match conditions end the evaluation: without
// an error when one is false, which exempts the request, and with an error when none
// is and one cannot be evaluated.
func (p *Policy[B]) CheckConditions(ctx context.Context, s activation.Subject) (*ConditionReport, error) {
	if len(p.Conditions) == 0 {
		return nil, nil
	}
	start := time.Now()
	budget := expression.NewBudget(celconfig.RuntimeCELCostBudgetMatchConditions)
	result := p.Conditions.Check(p.NewSeries(ctx, s, activation.InConditions, budget))
	if result.Excluded {
		klog.FromContext(ctx).V(5).Info("Policy does not match", "policy", p.Name, "because", "a match condition is false", "matchCondition", result.Condition)
	}
	if !result.Excluded && result.Err == nil {
		return nil, nil
	}
	return &ConditionReport{Policy: p.Name, Errors: result.Errors, Elapsed: time.Since(start)}, result.Err
}

// NewSeries returns a series for expressions of the policy.
func (p *Policy[B]) NewSeries(ctx context.Context, s activation.Subject, in activation.Scope, budget *expression.Budget) *expression.Series {
	return activation.NewSeries(ctx, s, in, p.Variables, budget)
}
