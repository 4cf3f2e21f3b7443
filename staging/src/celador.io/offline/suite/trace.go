// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
)

// A tracing sends requests to a cluster and records how the expressions of its objects are
// evaluated. A case uses it only if its evaluations are needed, for coverage or to explain a
// mismatch. A tracing is safe for concurrent use.
type tracing struct {
	*cluster.Tracing
	expressions map[*cluster.Expression]tracedExpression
}

// A tracedExpression is an expression of a traced cluster, with its position in the manifests and
// the index by which the steps of an evaluation are assigned to branches.
type tracedExpression struct {
	coverage.Expression
	plan *coverage.BranchIndex
}

// newTracing returns the tracing of a cluster. objects are the manifests of the cluster, in which
// positions of expressions are looked up.
func newTracing(ctx context.Context, c *cluster.Cluster, objects []object) (*tracing, error) {
	traced, err := c.Trace(ctx)
	if err != nil {
		return nil, err
	}
	t := &tracing{traced, map[*cluster.Expression]tracedExpression{}}
	for _, e := range traced.Expressions {
		plan := coverage.NewBranchIndex(e.Checked)
		found := coverage.Expression{Kind: e.Kind, Name: e.Name, Field: e.Field, Text: plan.Text(), Branches: plan.Branches()}
		if i := slices.IndexFunc(objects, func(o object) bool { return o.content.GetKind() == e.Kind && o.content.GetName() == e.Name }); i >= 0 {
			found.Position = objects[i].document.Position(e.Field)
		}
		t.expressions[e] = tracedExpression{found, plan}
	}
	return t, nil
}

// cover adds all expressions of the cluster to the profile, and the branches that the evaluations
// reached.
func (t *tracing) cover(profile *coverage.Profile, evaluations []cluster.Evaluation) {
	for _, e := range t.expressions {
		profile.Add(e.Expression)
	}
	for _, evaluation := range evaluations {
		e := t.expressions[evaluation.Expression]
		e.Branches = e.plan.Branches()
		e.plan.Cover(e.Branches, evaluation.Steps)
		profile.Add(e.Expression)
	}
}

// explainValues adds to the mismatches of a case how their expressions were evaluated. To a
// mismatch of the decision or of the webhooks, it also adds the expressions that explain the actual
// value.
func (c *checker) explainValues(t *tracing, expect *Expectation, decision Conclusion, evaluations []cluster.Evaluation) {
	for i := range c.mismatches {
		m := &c.mismatches[i]
		for _, evaluation := range evaluations {
			e := t.expressions[evaluation.Expression]
			known := slices.IndexFunc(m.Expressions, func(shown Expression) bool { return shown.Position == e.Position })
			if known < 0 {
				if !leadsTo(m.Field, decision, expect, &e, &evaluation) {
					continue
				}
				known = len(m.Expressions)
				m.Expressions = append(m.Expressions, Expression{Position: e.Position, Text: e.Text})
			}
			// With several params, there are several evaluations. Show one that does not satisfy
			// the expression, because one that satisfies it explains nothing.
			if shown := &m.Expressions[known]; shown.Explanation == nil || e.plan.Result(evaluation.Steps) != types.True {
				explanation := e.plan.Explain(evaluation.Steps)
				shown.Explanation = &explanation
			}
		}
	}
}

// leadsTo reports whether an evaluation explains why the field of an expectation does not have the
// expected value. For example, a match condition that is false explains the decision NoMatch, and a
// validation that is false explains Denied.
func leadsTo(field string, decision Conclusion, expect *Expectation, e *tracedExpression, evaluation *cluster.Evaluation) bool {
	value := e.plan.Result(evaluation.Steps)
	isWebhook := e.Kind == cluster.MutatingWebhookKind || e.Kind == cluster.ValidatingWebhookKind
	switch {
	case field == "webhooks":
		return isWebhook && value != types.True
	case field != "decision":
		return false
	case decision == Rejected:
		return e.Kind == cluster.CRDKind && strings.HasSuffix(e.Field, ".rule") && value != types.True || isWebhook && types.IsError(value)
	}
	kind, name := cutKind(expect.Policy)
	if !slices.Contains(policyKinds, e.Kind) || kind != "" && kind != e.Kind || name != "" && name != e.Name {
		return false
	}
	isCondition, isValidation := strings.HasPrefix(e.Field, "spec.matchConditions"), strings.HasPrefix(e.Field, "spec.validations") && strings.HasSuffix(e.Field, "].expression")
	switch decision {
	case NoMatch:
		return isCondition && value != types.True
	case Allowed:
		return isValidation
	case Denied:
		return isValidation && value == types.False
	case Error:
		return types.IsError(value)
	default:
		return false
	}
}
