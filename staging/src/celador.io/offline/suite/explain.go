// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
)

// An ExplainedResponse is the response to the request of a case, with the evaluations of all
// expressions.
type ExplainedResponse struct {
	// Decision is what the policies decide, and Reason says why in words. Both are empty if
	// Response is nil.
	Decision Conclusion
	Reason   string
	// Response is the answer of the server. It is nil if the case is skipped, or no client can send
	// its request.
	Response *cluster.Response
	// ObjectWithoutPolicies is the object in the response to the same request without policies. It
	// is nil if this response has no object.
	ObjectWithoutPolicies *unstructured.Unstructured
	// Expressions are the expressions in the cluster that coverage counts, with their evaluations,
	// sorted by the kind and name of their object and the position in it.
	Expressions []EvaluatedExpression
	// TypeWarnings are the warnings of the type checks of all policies.
	TypeWarnings []PolicyWarning
}

// An EvaluatedExpression is an expression of an object in the cluster, with its evaluations. Its
// Branches say which branches the evaluations reached.
type EvaluatedExpression struct {
	coverage.Expression
	// Evaluations are the evaluations in their order, but at most maxEvaluations. There may be
	// several: a policy evaluates an expression once for each param.
	Evaluations []ExplainedEvaluation
	// Omitted is the number of evaluations that Evaluations leaves out.
	Omitted int
}

// maxEvaluations is the maximum number of evaluations of one expression in an ExplainedResponse. It
// bounds the memory, because a policy may have many params.
const maxEvaluations = 20

// An ExplainedEvaluation is one evaluation of an expression.
type ExplainedEvaluation struct {
	coverage.Explanation
	// Failed is set if the value is an error.
	Failed bool `json:"error"`
	// Cost is the runtime cost in CEL cost units, without the costs of the variables that the
	// expression reads.
	Cost uint64 `json:"cost"`
}

// Explain returns the response to the request of the first case of a test, and ignores its
// expectation. The feature gates of the suite must be enabled. If the request cannot be sent,
// Explain returns an ExplainedResponse together with the error. If the server does not accept the
// manifests, or if ctx ends, it returns only an error. Errors about fields have their positions.
func Explain(ctx context.Context, base *cluster.Base, test *Test) (*ExplainedResponse, error) {
	c := &test.cases[0]
	f := newFixture(base).with(ctx, overlay(test.objects, c.objects))
	created, err := f.cluster()
	if err != nil {
		return nil, err
	}
	t, err := f.tracing()
	if err != nil {
		return nil, err
	}
	explained := &ExplainedResponse{}
	for _, o := range f.objects {
		warnings, err := o.typeWarnings(created)
		if err != nil {
			return nil, err
		}
		explained.TypeWarnings = append(explained.TypeWarnings, warnings...)
	}
	visitor := newExplainer(t)
	if c.request != nil {
		err = explained.admit(ctx, c, f, visitor)
	}
	if ctx.Err() != nil {
		// Handlers of the API may still add evaluations, so the ExplainedResponse is not returned.
		return nil, ctx.Err()
	}
	explained.Expressions = visitor.sorted()
	if err != nil {
		return explained, c.refused(test.document, err)
	}
	return explained, nil
}

// admit sends the request of a case to the cluster of f, and sets the response and the decision in
// e. If the response has an object, admit sends the request to the same cluster without policies,
// too, and sets the object of that response in e: a comparison shows what the policies have
// changed.
func (e *ExplainedResponse) admit(ctx context.Context, c *testCase, f fixture, visitor *explainer) error {
	response, err := visitor.tracing.Visit(ctx, c.request, visitor.visit)
	if err != nil || ctx.Err() != nil {
		return err
	}
	e.Response = response
	e.Decision, e.Reason = decide(response, response.Policies)
	if response.Object == nil {
		return nil
	}
	withoutPolicies, err := f.withoutPolicies()
	if err != nil {
		return err
	}
	before, err := withoutPolicies.Admit(ctx, c.request)
	if err != nil {
		return err
	}
	e.ObjectWithoutPolicies = before.Object
	return nil
}

// An explainer collects the evaluations of expressions while a cluster handles one request.
type explainer struct {
	tracing     *tracing
	expressions map[*cluster.Expression]*EvaluatedExpression
}

func newExplainer(t *tracing) *explainer {
	x := &explainer{t, map[*cluster.Expression]*EvaluatedExpression{}}
	for e, traced := range t.expressions {
		traced.Branches = traced.plan.Branches()
		x.expressions[e] = &EvaluatedExpression{Expression: traced.Expression}
	}
	return x
}

// visit adds an evaluation. The tracing calls it during the request.
func (x *explainer) visit(evaluation cluster.Evaluation) {
	e, plan := x.expressions[evaluation.Expression], x.tracing.expressions[evaluation.Expression].plan
	plan.Cover(e.Branches, evaluation.Steps)
	if len(e.Evaluations) == maxEvaluations {
		e.Omitted++
		return
	}
	e.Evaluations = append(e.Evaluations, ExplainedEvaluation{plan.Explain(evaluation.Steps), types.IsError(plan.Result(evaluation.Steps)), evaluation.Cost})
}

// sorted returns the expressions in the order of ExplainedResponse.Expressions.
func (x *explainer) sorted() []EvaluatedExpression {
	var all []EvaluatedExpression
	for _, e := range x.expressions {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b EvaluatedExpression) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column), strings.Compare(a.Field, b.Field))
	})
	return all
}
