// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/schemaexpression"
)

// A Tracing answers requests as its cluster does, and also returns how expressions evaluated. It is
// safe for concurrent use.
type Tracing struct {
	cluster *Cluster
	// Expressions are the expressions of all policies, the match conditions of all webhooks and the
	// validation rules of all served versions of CustomResourceDefinitions, except for those that
	// do not compile. They are in the order of kind, name and field. They must not be changed.
	Expressions []*Expression
}

// An Expression is an expression of an object of a cluster.
type Expression struct {
	// Kind is the kind of the object: MutatingKind, ValidatingKind, MutatingWebhookKind,
	// ValidatingWebhookKind or CRDKind.
	Kind string
	// Name is the name of the object.
	Name string
	// Field is the path of the expression in the object, such as spec.validations[0].expression.
	Field string
	// Checked is the checked expression. Its source info contains the calls of macros.
	Checked *ast.AST
}

// An Evaluation is one evaluation of an expression.
type Evaluation struct {
	*Expression
	// Steps are the values of the expression's nodes, in the order of the evaluation.
	Steps []expression.Step
	// Cost is the runtime cost in CEL cost units, without the costs of the variables that the
	// expression reads.
	Cost uint64
}

// Trace compiles the expressions of the cluster again, so that their evaluations can be observed,
// and returns a Tracing that answers requests with these evaluations. Default expressions and
// conversion rules of CustomResourceDefinitions are not traced.
func (c *Cluster) Trace(ctx context.Context) (*Tracing, error) {
	compiled := map[any]*Expression{}
	traced := &Cluster{Base: c.Base, objects: c.objects, access: c.access, customResources: map[schema.GroupResource]*customResource{}}
	for _, custom := range c.customResources {
		if err := traced.serveCustom(ctx, custom.crd, custom.Expressions(), tracer[*schemaexpression.Program]{CRDKind, compiled}); err != nil {
			return nil, err
		}
	}
	var err error
	traced.policies, err = traced.compile(func(kind string) *expression.Compiler {
		return expression.Default().Traced(tracer[*expression.Program]{kind, compiled})
	})
	if err != nil {
		return nil, err
	}
	t := &Tracing{cluster: traced}
	for _, e := range compiled {
		t.Expressions = append(t.Expressions, e)
	}
	slices.SortFunc(t.Expressions, func(a, b *Expression) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Field, b.Field))
	})
	return t, nil
}

// Admit returns the response to a request as Cluster.Admit does, and the evaluations of expressions
// in order.
func (t *Tracing) Admit(ctx context.Context, request *Request) (*Response, []Evaluation, error) {
	var evaluations []Evaluation
	response, err := t.Visit(ctx, request, func(e Evaluation) { evaluations = append(evaluations, e) })
	return response, evaluations, err
}

// Visit returns the response to a request as Cluster.Admit does. It calls visit after each
// evaluation of an expression, one call at a time. Unlike Admit, it keeps no evaluations, whose
// steps may need much memory.
func (t *Tracing) Visit(ctx context.Context, request *Request, visit func(Evaluation)) (*Response, error) {
	r := newResults(&t.cluster.policies)
	r.visit = visit
	return t.cluster.admit(ctx, request, r)
}

// A tracer collects the expressions of one kind of objects when they are compiled, and passes their
// evaluations on to the request's visit function. It needs no lock: objects are compiled one after
// the other, and all before the first request.
type tracer[P program] struct {
	kind string
	// compiled has the expressions of all kinds by their programs.
	compiled map[any]*Expression
}

// A program is a *expression.Program or a *schemaexpression.Program.
type program interface{ Traced() *ast.AST }

var (
	_ expression.Tracer       = tracer[*expression.Program]{}
	_ schemaexpression.Tracer = tracer[*schemaexpression.Program]{}
)

// Compiled implements expression.Tracer and schemaexpression.Tracer.
func (t tracer[P]) Compiled(name, path string, program P) {
	t.compiled[program] = &Expression{Kind: t.kind, Name: name, Field: path, Checked: program.Traced()}
}

// Evaluated implements expression.Tracer and schemaexpression.Tracer.
func (t tracer[P]) Evaluated(ctx context.Context, program P, steps []expression.Step, cost uint64) {
	if r := resultsFrom(ctx); r != nil && r.visit != nil {
		r.visit(Evaluation{t.compiled[program], steps, cost})
	}
}
