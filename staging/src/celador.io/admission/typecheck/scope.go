// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/expression"
)

// scope is what the expressions of a policy can refer to when it is applied to objects of
// one type. Not safe for concurrent use.
type scope struct {
	base    *cel.Env
	types   *typeTable
	options []cel.EnvOption
	// envs are without and with 'authorizer', made when first needed.
	envs map[bool]*cel.Env
}

// newScope returns a scope without any variables yet. Without params, 'params' is not
// declared.
func (c *Checker) newScope(object description, params *description) *scope {
	table := newTypeTable(c.env.CELTypeProvider())
	objectType := table.root(object)
	s := &scope{base: c.env, types: table, envs: map[bool]*cel.Env{}}
	s.options = []cel.EnvOption{
		cel.CustomTypeProvider(table),
		cel.Variable(expression.Object, objectType),
		cel.Variable(expression.OldObject, objectType),
		cel.Variable(expression.Variables, cel.ObjectType(variablesType)),
	}
	if params != nil {
		s.options = append(s.options, cel.Variable(expression.Params, table.root(*params)))
	}
	return s
}

func (s *scope) env(authorizer bool) (*cel.Env, error) {
	if env, ok := s.envs[authorizer]; ok {
		return env, nil
	}
	options := s.options
	if authorizer {
		options = append(slices.Clip(options),
			cel.Variable(expression.Authorizer, library.AuthorizerType),
			cel.Variable(expression.RequestResource, library.ResourceCheckType))
	}
	env, err := s.base.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("declaring variables: %w", err)
	}
	s.envs[authorizer] = env
	return env, nil
}

// check returns the type of an expression's result and what is wrong with the expression.
// When something is wrong, the type is dynamic. The error is one of the environment.
func (s *scope) check(e fieldExpression) (output *cel.Type, v verdict, err error) {
	parsed, err := e.parse()
	if err != nil {
		return nil, v, err
	}
	if parsed.tree == nil {
		return cel.DynType, verdict{message: parsed.issues.String()}, nil
	}
	env, err := s.env(e.authorizer)
	if err != nil {
		return nil, v, err
	}
	checked, issues := env.Check(parsed.tree())
	if issues.Err() == nil {
		return checked.OutputType(), v, nil
	}
	output, remaining := s.excuse(env, parsed, issues)
	if remaining.Err() == nil {
		return output, v, nil
	}
	return output, verdict{message: remaining.String(), absent: parsed.tests(idsOf(issues))}, nil
}
