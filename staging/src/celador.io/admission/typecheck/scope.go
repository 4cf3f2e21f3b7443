// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/expression"
	v1 "celador.io/api/admissionregistration/v1"
)

// scope holds the declarations with which the expressions of a policy are checked for objects of
// one type. It is not safe for concurrent use.
type scope struct {
	checker *Checker
	types   *typeTable
	// object is the type of 'object', or of 'item' in the index of a lookup.
	object *cel.Type
	// constructors are declared for expressions that construct patches.
	constructors *constructors
	options      []cel.EnvOption
	variables    expression.VariableTypes
	// envs caches environments.
	envs map[declared]*cel.Env
	// root is the type whose objects are checked.
	root resolvedType
}

// declared is the key of an environment in scope.envs: the variables that the environment declares,
// and the values of the scope on which the type of 'self' depends. values is the zero value if
// 'self' is not declared.
type declared struct {
	expression.Declarations
	values v1.ScopedValues
}

// newScope returns a scope without the policy's variables, which checkExpressions adds. If params
// is nil, 'params' is not declared.
func (c *Checker) newScope(object resolvedType, params *resolvedType) *scope {
	table := newTypeTable(c.env.CELTypeProvider())
	objectType := table.root(object)
	s := &scope{
		checker:      c,
		types:        table,
		object:       objectType,
		constructors: newConstructors(c.patchEnv.CELTypeProvider(), table, objectType),
		envs:         map[declared]*cel.Env{},
		root:         object,
	}
	s.options = []cel.EnvOption{
		cel.Variable(expression.Object, objectType),
		cel.Variable(expression.OldObject, objectType),
		cel.Variable(expression.Variables, cel.ObjectType(variablesType)),
	}
	if len(c.lookups) > 0 {
		for name, objects := range c.lookups {
			table.lookups[name] = expression.LookupType(table.root(objects))
		}
		s.options = append(append(s.options, expression.LookupDeclarations().EnvOptions...),
			cel.Variable(expression.Lookups, cel.ObjectType(expression.LookupsTypeName)))
	}
	if params != nil {
		s.options = append(s.options, cel.Variable(expression.Params, table.root(*params)))
	}
	return s
}

func (s *scope) env(in declared) (*cel.Env, error) {
	if env, ok := s.envs[in]; ok {
		return env, nil
	}
	options, base := slices.Clip(s.options), s.checker.env
	if in.Item {
		options = []cel.EnvOption{cel.Variable(expression.Item, s.object)}
	}
	if in.Self {
		self := s.types.selfOf(s.root, in.values)
		options = append(options, cel.Variable(expression.Self, self), cel.Variable(expression.OldSelf, self), cel.Variable(expression.Path, cel.StringType))
	}
	if in.Authorizer {
		options = append(options,
			cel.Variable(expression.Authorizer, library.AuthorizerType),
			cel.Variable(expression.RequestResource, library.ResourceCheckType))
	}
	if in.Patches {
		base = s.checker.patchEnv
		options = append(options, cel.CustomTypeProvider(s.constructors))
	} else {
		options = append(options, cel.CustomTypeProvider(s.types))
	}
	env, err := base.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("declaring variables: %w", err)
	}
	s.envs[in] = env
	return env, nil
}

// check returns the assessment of an expression and the type of its result, which is dynamic if the
// expression has type errors. It fails if the environment cannot be extended.
func (s *scope) check(e fieldExpression) (output *cel.Type, a assessment, err error) {
	parsed, err := e.parse()
	if err != nil {
		return nil, a, err
	}
	if parsed.tree == nil {
		return cel.DynType, assessment{message: parsed.message}, nil
	}
	// The declarations are without 'params', because newScope declares it with the type of its
	// schema.
	in := declared{Declarations: e.Role.Declarations(false)}
	if e.Scope != nil {
		in.Self, in.values = true, *e.Scope
		if !s.root.has(e.Scope) {
			return cel.DynType, a, nil // it is not evaluated for objects of the type
		}
	}
	env, err := s.env(in)
	if err != nil {
		return nil, a, err
	}
	var types map[int64]*cel.Type
	tree := parsed.tree()
	if large := s.checker.sizes.Check(env, tree); large != nil {
		return cel.DynType, assessment{message: messageOf(tree.Source(), large), issues: s.issuesOf(tree, nil, large)}, nil
	}
	checked, issues := checkIn(env, tree)
	remaining := issues
	if !failed(issues) {
		output, types = checked.OutputType(), checked.NativeRep().TypeMap()
		for _, reference := range checked.NativeRep().ReferenceMap() {
			a.readsOldSelf = a.readsOldSelf || in.Self && reference.Name == expression.OldSelf
		}
	} else if types = typesIn(env, parsed.tree()); types != nil {
		output, remaining = s.recheck(env, parsed, issues, types, e.mixes)
	}
	if in.Patches {
		remaining = remaining.Append(s.constructors.checkAssignments(parsed.tree(), types))
	}
	a.cost = typesCost(types)
	remaining, escapes := s.findEscapes(parsed.tree(), types, remaining)
	if !failed(remaining) {
		return output, a, nil
	}
	a.message, a.issues = messageOf(tree.Source(), remaining), s.issuesOf(parsed.tree(), types, remaining)
	if len(escapes.errs) > 0 {
		a.escapes = &assessment{}
		only := cel.NewIssues(common.NewErrors(tree.Source()).Append(escapes.errs))
		a.escapes.message, a.escapes.issues = messageOf(tree.Source(), only), s.issuesOf(parsed.tree(), types, only)
	}
	// A has() of an escaped name does not guard its operand, because no type has the field.
	absent := idsOf(issues)
	maps.DeleteFunc(absent, func(id int64, _ bool) bool { return escapes.ids[id] })
	a.absent = parsed.tests(absent)
	return cel.DynType, a, nil
}
