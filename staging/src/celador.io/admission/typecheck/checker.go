// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"
	"sync"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"celador.io/admission/expression"
	"celador.io/admission/policyspec"
	"celador.io/admission/typesize"
)

// Checker checks policies. It keeps nothing of what it has checked and is safe for
// concurrent use if its mapper and its resolver are.
type Checker struct {
	env *cel.Env
	// patching also has the types of mutations.
	patching *cel.Env
	// sizes infers type sizes for expressions in both.
	sizes   *typesize.Functions
	mapper  meta.RESTMapper
	schemas resolver.SchemaResolver
}

// New returns a checker whose expressions may use everything that stored expressions may
// in the base environment. The error is one of that environment. For the mapper and the
// resolver see With.
func New(base *environment.EnvSet, mapper meta.RESTMapper, schemas resolver.SchemaResolver) (*Checker, error) {
	set, err := base.Extend(expression.RequestDeclarations())
	if err != nil {
		return nil, fmt.Errorf("declaring request and namespaceObject: %w", err)
	}
	patching, err := set.Extend(expression.PatchDeclarations())
	if err != nil {
		return nil, fmt.Errorf("declaring the types of mutations: %w", err)
	}
	env := patching.StoredExpressionsEnv()
	return &Checker{env: set.StoredExpressionsEnv(), patching: env, sizes: typesize.NewFunctions(env), mapper: mapper, schemas: schemas}, nil
}

// With returns a checker that learns from other sources about types. It shares all that is
// expensive to make, so a single check may have its own, such as a snapshot.
//
// The mapper tells the kinds of resources; it is never reset. The resolver is asked about
// each type of each policy, so it pays to have it remember schemas, which are only read.
// Its errors wrap resolver.ErrSchemaNotFound when there is no schema. With a resolver that
// knows built-in types only, the findings are the errors against built-in types.
func (c *Checker) With(mapper meta.RESTMapper, schemas resolver.SchemaResolver) *Checker {
	return &Checker{env: c.env, patching: c.patching, sizes: c.sizes, mapper: mapper, schemas: schemas}
}

// CheckValidating checks all expressions of a policy against each type that its match
// constraints name. What could not be checked is part of the result, with the reason. The
// policy is not changed.
func (c *Checker) CheckValidating(policy *v1.ValidatingAdmissionPolicy) *Result {
	return c.check(policyspec.Validating(&policy.Spec))
}

// CheckMutating is the same for a mutating policy. The objects that its mutations construct
// are checked, too: their fields and the values of these have to be some that the type has.
func (c *Checker) CheckMutating(policy *v1.MutatingAdmissionPolicy) *Result {
	return c.check(policyspec.Mutating(&policy.Spec))
}

func (c *Checker) check(policy *policyspec.Policy) *Result {
	result := &Result{}
	expressions := expressionsOf(policy)
	for i := range expressions {
		e := &expressions[i]
		e.parse = sync.OnceValues(func() (syntax, error) { return parse(c.env, e.source) })
	}
	params := c.findParams(policy.ParamKind, result)
	var checked []checkedType
	targets := c.findTargets(policy.MatchConstraints, result)
	budget := newBudget(expressions)
	for _, t := range targets {
		if budget.exhausted() {
			result.omit(Unchecked{Field: t.field, Resource: t.resource, Kind: t.kind, Reason: TooManyTypes, Err: tooMuch(budget.types)})
			continue
		}
		object, err := c.describe(t.kind)
		var verdicts []verdict
		if err == nil {
			verdicts, err = c.checkType(expressions, object, params)
		}
		if err != nil {
			result.omit(Unchecked{Field: t.field, Resource: t.resource, Kind: t.kind, Reason: reasonOf(err), Err: err})
			continue
		}
		budget.charge(verdicts)
		result.Types = append(result.Types, t.kind)
		checked = append(checked, checkedType{object, verdicts})
	}
	c.findGuarded(expressions, params, checked, result.knows(targets))
	for i, e := range expressions {
		for _, t := range checked {
			v := t.verdicts[i]
			if v.message == "" {
				continue
			}
			f := Finding{Field: e.field, Type: t.object.kind, Message: v.message, Guarded: v.guarded}
			if v.byParams {
				f.Params = params.kind
			}
			result.Findings = append(result.Findings, f)
		}
	}
	return result
}

// checkedType has a verdict on each expression.
type checkedType struct {
	object   description
	verdicts []verdict
}

// verdict is what is wrong with an expression.
type verdict struct {
	// cost is the cost of the types of the expression's parts.
	cost int
	// message is empty when the expression fits.
	message string
	// byParams is set if it would fit if nothing was known about params.
	byParams bool
	// absent are the has() of fields that a type does not have.
	absent []int64
	// guarded is set if those rule out everything that is wrong.
	guarded bool
}

// checkType checks the expressions for objects of one type.
func (c *Checker) checkType(expressions []fieldExpression, object description, params *description) ([]verdict, error) {
	verdicts, err := c.checkExpressions(expressions, object, params)
	if err != nil || params == nil || params.schema == nil || allFit(verdicts) {
		return verdicts, err
	}
	without, err := c.checkExpressions(expressions, object, &description{})
	if err != nil {
		return nil, err
	}
	for i := range verdicts {
		verdicts[i].byParams = without[i].message == ""
	}
	return verdicts, nil
}

// checkExpressions checks one expression after the other: a variable is in scope for those
// after it.
func (c *Checker) checkExpressions(expressions []fieldExpression, object description, params *description) ([]verdict, error) {
	s := c.newScope(object, params)
	verdicts := make([]verdict, len(expressions))
	for i, e := range expressions {
		output, v, err := s.check(e)
		if err != nil {
			return nil, err
		}
		verdicts[i] = v
		if e.variable != "" {
			s.types.variables[e.variable] = s.variables.Of(output)
		}
	}
	return verdicts, nil
}

func allFit(verdicts []verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v verdict) bool { return v.message != "" })
}
