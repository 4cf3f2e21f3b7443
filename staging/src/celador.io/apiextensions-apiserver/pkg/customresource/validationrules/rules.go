// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validationrules evaluates the x-kubernetes-validations of custom resources, with the
// results, messages, reasons, costs and ratcheting of Kubernetes.
//
// The rules of a version form a tree, which has only those nodes of the schema that have rules or
// lead to some. A node is compiled when the first object reaches it: reading custom resources
// compiles nothing. Equal rules over equal types share their programs, across versions and
// CustomResourceDefinitions.
package validationrules

import (
	"context"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	upstreamvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/schemaexpression"
)

// Rules are the validation rules of one version of custom resources. They are safe for concurrent
// use.
type Rules struct {
	schema *structuralschema.Structural
	// tree returns the root of the nodes. The first call links them.
	tree func() *node
}

// Take removes the validation rules from a schema and returns them, or nil if the schema has none.
// resourceRoot tells whether the schema describes a resource: its rules may then read apiVersion,
// kind and metadata.name even if the schema does not specify them. The rules keep a reference to
// the schema, which must not change afterwards.
//
// As in Kubernetes, rules in allOf, anyOf, oneOf or not do not count by themselves: if a schema has
// no other rules, Take returns nil and removes none.
func Take(schema *structuralschema.Structural, resourceRoot bool) *Rules {
	return takeWith(schemaexpression.Default(), schema, resourceRoot)
}

func takeWith(compiler *schemaexpression.Compiler, schema *structuralschema.Structural, resourceRoot bool) *Rules {
	taken, found := take(schema, resourceRoot)
	if !found {
		return nil
	}
	return &Rules{schema: schema, tree: sync.OnceValue(func() *node {
		return linker{compiler}.link(taken, model.SchemaDeclType(schema, resourceRoot))
	})}
}

// Validate returns the errors of the rules for an object that conforms to the schema. old is nil
// when the object is created. An error of a value that did not change is a warning instead, which
// Validate adds to the recorder of ctx. The objects must not change during the call.
func (r *Rules) Validate(ctx context.Context, object, old map[string]any) field.ErrorList {
	instance := Instance{Value: object, Budget: celconfig.RuntimeCELCostBudget}
	if old == nil {
		errs, _ := r.Evaluate(ctx, instance)
		return errs
	}
	instance.Old = old
	// The objects are compared only if a rule fails.
	correlated := sync.OnceValue(func() *common.CorrelatedObject {
		return common.NewCorrelatedObject(object, old, &model.Structural{Structural: r.schema})
	})
	compared := false
	instance.Correlation = func() *common.CorrelatedObject {
		compared = true
		return correlated()
	}
	errs, _ := r.Evaluate(ctx, instance)
	if compared {
		upstreamvalidation.Metrics.ObserveRatchetingTime(*correlated().Duration)
	}
	return errs
}

// An Instance is a value that the schema describes.
type Instance struct {
	// Path is the path of the value in errors. Nil for the root of an object.
	Path *field.Path
	// Value is the value. Old is the value before the update, or nil if there is none.
	Value, Old any
	// Correlation returns the value and its old value for ratcheting: errors of values that did not
	// change become warnings. If Correlation is nil, they stay errors. It is called for failing
	// rules only, more than once.
	Correlation func() *common.CorrelatedObject
	// Budget is the cost that all rules together may have, in CEL cost units.
	Budget int64
}

// Evaluate returns the errors of all rules for a value, and the budget that remains. If the budget
// is exhausted or a rule exceeds celconfig.PerCallLimit, the remaining budget is negative and
// further rules are not evaluated.
func (r *Rules) Evaluate(ctx context.Context, instance Instance) (field.ErrorList, int64) {
	e := evaluation{ctx: ctx, instance: &instance, budget: instance.Budget}
	e.visit(r.tree(), instance.Value, instance.Old)
	return e.errs, e.budget
}
