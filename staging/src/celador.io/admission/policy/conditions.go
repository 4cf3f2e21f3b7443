// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"time"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"

	"celador.io/admission/internal/activation"
	"celador.io/admission/policyspec"
)

// ConditionReport describes, for metrics, match conditions that ended the evaluation of a policy,
// because one is false or could not be evaluated.
type ConditionReport struct {
	// Policy and Binding are names. Binding is empty for a Singleton.
	Policy, Binding string
	// Errors is the number of conditions that failed, up to the first condition that is false.
	Errors int
	// Elapsed is the duration of the evaluation of all conditions.
	Elapsed time.Duration
}

// CheckConditions evaluates the match conditions of the policy on s, in a series that it begins in
// memory. It returns nil if all are true. If one is false, the request is exempt from the policy
// and the error is nil. If none is false and some failed, or they exceed their budget, it returns
// the failures. The caller sets the Binding of the report, because several bindings may share an
// evaluation.
func (p *Policy[Body]) CheckConditions(ctx context.Context, memory *activation.Memory, s activation.Subject) (*ConditionReport, error) {
	compiled := p.Compiled()
	if len(compiled.Conditions) == 0 {
		return nil, nil
	}
	start := time.Now()
	result := compiled.Conditions.Check(memory.Begin(ctx, s, policyspec.MatchCondition, compiled.Variables, celconfig.RuntimeCELCostBudgetMatchConditions))
	if result.Excluded {
		klog.FromContext(ctx).V(5).Info("Policy does not match", "policy", p.Name, "because", "a match condition is false", "matchCondition", result.Condition)
	}
	if !result.Excluded && result.Err == nil {
		return nil, nil
	}
	return &ConditionReport{Policy: p.Name, Errors: result.Errors, Elapsed: time.Since(start)}, result.Err
}
