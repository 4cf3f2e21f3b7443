// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"celador.io/admission/expression"
)

// Checker checks policies. It keeps nothing of what it has checked and is safe for
// concurrent use if its mapper and its resolver are.
type Checker struct {
	env     *cel.Env
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
	return &Checker{env: set.StoredExpressionsEnv(), mapper: mapper, schemas: schemas}, nil
}

// With returns a checker that learns from other sources about types. It shares all that is
// expensive to make, so a single check may have its own, such as a snapshot.
//
// The mapper tells the kinds of resources; it is never reset. The resolver is asked about
// each type of each policy, so it pays to have it remember schemas, which are only read.
// Its errors wrap resolver.ErrSchemaNotFound when there is no schema. With a resolver that
// knows built-in types only, the findings are the errors against built-in types.
func (c *Checker) With(mapper meta.RESTMapper, schemas resolver.SchemaResolver) *Checker {
	return &Checker{env: c.env, mapper: mapper, schemas: schemas}
}

// CheckValidating checks all expressions of a policy against each type that its match
// constraints name. What could not be checked is part of the result, with the reason. The
// policy is not changed.
func (c *Checker) CheckValidating(policy *v1.ValidatingAdmissionPolicy) *Result {
	return c.check(validating(policy))
}

func (c *Checker) check(s subject) *Result {
	result := &Result{}
	params := c.findParams(s.paramKind, result)
	// found has the findings on each expression, in the order of types.
	found := make([][]Finding, len(s.expressions))
	for _, t := range c.findTargets(s.constraints, result) {
		object, err := c.describe(t.kind)
		if err == nil {
			err = c.checkType(s.expressions, object, params, found)
		}
		if err != nil {
			result.omit(Unchecked{Field: t.field, Resource: t.resource, Kind: t.kind, Reason: reasonOf(err), Err: err})
			continue
		}
		result.Types = append(result.Types, t.kind)
	}
	for _, findings := range found {
		result.Findings = append(result.Findings, findings...)
	}
	return result
}

// checkType adds to found what is wrong with the expressions for objects of one type.
func (c *Checker) checkType(expressions []fieldExpression, object description, params *description, found [][]Finding) error {
	messages, err := c.checkExpressions(expressions, object, params)
	if err != nil {
		return err
	}
	// without is what would be wrong if nothing was known about params.
	without := messages
	if params != nil && params.schema != nil && !allFit(messages) {
		if without, err = c.checkExpressions(expressions, object, &description{}); err != nil {
			return err
		}
	}
	for i, message := range messages {
		if message == "" {
			continue
		}
		f := Finding{Field: expressions[i].field, Type: object.kind, Message: message}
		if without[i] == "" {
			f.Params = params.kind
		}
		found[i] = append(found[i], f)
	}
	return nil
}

// checkExpressions returns what is wrong with each of the expressions, empty when it fits.
// A variable is in scope for those after it.
func (c *Checker) checkExpressions(expressions []fieldExpression, object description, params *description) ([]string, error) {
	s := c.newScope(object, params)
	messages := make([]string, len(expressions))
	for i, e := range expressions {
		output, message, err := s.check(e.source, e.authorizer)
		if err != nil {
			return nil, err
		}
		messages[i] = message
		if e.variable != "" {
			s.types.variables[e.variable] = output
		}
	}
	return messages, nil
}

func allFit(messages []string) bool {
	for _, message := range messages {
		if message != "" {
			return false
		}
	}
	return true
}
