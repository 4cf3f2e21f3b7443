// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"celador.io/admission/expression"
)

// A Tracing reviews requests as its cluster does, and tells how the expressions of policies evaluate. It is safe for concurrent
// use.
type Tracing struct {
	cluster  *Cluster
	policies policySet
	// Expressions are the expressions of all policies, except for those that do not compile, in the order of kind (mutating first),
	// policy and field. They must not be changed.
	Expressions []*Expression
}

// An Expression is an expression of a policy.
type Expression struct {
	// Kind is MutatingKind or ValidatingKind.
	Kind   string
	Policy string
	// Field is the path of the expression in the policy, such as spec.validations[0].expression.
	Field string
	// Checked is the checked expression. Its source info has the calls of macros.
	Checked *ast.AST
}

// An Evaluation is one evaluation of an expression.
type Evaluation struct {
	*Expression
	// Steps are the values of the expression's nodes, in the order of the evaluation.
	Steps []expression.Step
	// Cost is the runtime cost in CEL cost units, without the costs of the variables that the expression reads.
	Cost uint64
}

// Trace compiles the policies of the cluster for reviews with evaluations.
func (c *Cluster) Trace() (*Tracing, error) {
	compiled := map[*expression.Program]*Expression{}
	policies, err := c.compile(func(kind string) *expression.Compiler {
		return expression.Default().Traced(&tracer{kind, compiled})
	})
	if err != nil {
		return nil, err
	}
	t := &Tracing{cluster: c, policies: policies}
	for _, e := range compiled {
		t.Expressions = append(t.Expressions, e)
	}
	slices.SortFunc(t.Expressions, func(a, b *Expression) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Policy, b.Policy), strings.Compare(a.Field, b.Field))
	})
	return t, nil
}

// Admit returns the review of a request as Cluster.Admit does, and the evaluations of expressions in order.
func (t *Tracing) Admit(ctx context.Context, request *Request) (*Review, []Evaluation, error) {
	var evaluations []Evaluation
	review, err := t.Visit(ctx, request, func(e Evaluation) { evaluations = append(evaluations, e) })
	return review, evaluations, err
}

// Visit returns the review of a request as Cluster.Admit does. It calls visit after each evaluation of an expression, and keeps no steps. Calls do not
// overlap.
func (t *Tracing) Visit(ctx context.Context, request *Request, visit func(Evaluation)) (*Review, error) {
	r := newRecord(&t.policies)
	r.visit = visit
	return t.cluster.admit(ctx, request, r)
}

// A tracer records the evaluations of the policies of one kind. Policies are compiled one after the other, before requests.
type tracer struct {
	kind     string
	compiled map[*expression.Program]*Expression
}

// Compiled implements expression.Tracer.
func (t *tracer) Compiled(policy, path string, program *expression.Program) {
	t.compiled[program] = &Expression{Kind: t.kind, Policy: policy, Field: path, Checked: program.Traced()}
}

// Evaluated implements expression.Tracer.
func (t *tracer) Evaluated(ctx context.Context, program *expression.Program, steps []expression.Step, cost uint64) {
	if r := recordFrom(ctx); r != nil && r.visit != nil {
		r.visit(Evaluation{t.compiled[program], steps, cost})
	}
}
