// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/internal/programs"
)

// An Environment compiles the expressions of one scope. It is safe for concurrent use.
//
// The environment of cel-go, which takes more time and memory than most expressions, is constructed
// when an expression is first compiled that shares no program. Neither an Expression that shares
// its program nor a Program needs it.
type Environment struct {
	compiler *Compiler
	scope    Scope
	origin   environment.Type
	base     *cel.Env
	builtins *programs.Builtins
	// env is the environment of cel-go with the variables and types of the scope.
	env func() (*cel.Env, error)
	// digests returns the digests of the types in the scope.
	digests func() digests
}

// Environment returns the environment of a scope. Expressions of stored objects
// (environment.StoredExpressions) may use all functions and types of the base environment. New
// expressions (environment.NewExpressions) may use only those that the compatibility version
// allows.
func (c *Compiler) Environment(scope Scope, origin environment.Type) (*Environment, error) {
	base, err := c.base.Env(origin)
	if err != nil {
		return nil, err
	}
	builtins, err := c.functions.Of(origin)
	if err != nil {
		return nil, err
	}
	e := &Environment{compiler: c, scope: scope, origin: origin, base: base, builtins: builtins}
	e.env = sync.OnceValues(e.extend)
	e.digests = sync.OnceValue(func() digests { return digestTypes(scope.Self) })
	return e, nil
}

// extend returns the base environment with the variables and types of the scope.
func (e *Environment) extend() (*cel.Env, error) {
	declared := []*apiservercel.DeclType{e.scope.Self}
	for _, other := range e.scope.Others {
		declared = append(declared, other.Type)
	}
	provider := apiservercel.NewDeclTypeProvider(declared...)
	// Fields may have the names of CEL keywords in all compatibility versions since 1.31.
	provider.SetRecognizeKeywordAsFieldName(true)
	resolved, err := provider.WithTypeProvider(e.base.CELTypeProvider())
	if err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(openProvider{resolved}),
		cel.CustomTypeAdapter(resolved),
		cel.Variable(Self, e.scope.Self.CelType()),
	}
	switch e.scope.OldSelf {
	case PlainOldSelf:
		options = append(options, cel.Variable(OldSelf, e.scope.Self.CelType()))
	case OptionalOldSelf:
		options = append(options, cel.Variable(OldSelf, types.NewOptionalType(e.scope.Self.CelType())))
	}
	for _, other := range e.scope.Others {
		options = append(options, cel.Variable(other.Name, other.Type.CelType()))
	}
	if e.scope.Shared != nil {
		options = append(options, cel.Variable(Variables, sharedType), common.ResolverEnvOption(sharedResolver{e.scope.Shared, e.scope.Types}))
	} else if e.scope.Types != nil {
		// A resolver falls back to the types of the environment that it extends.
		options = append(options, common.ResolverEnvOption(e.scope.Types))
	}
	return e.base.Extend(options...)
}

// later returns a function that checks the expression again, for evaluations that closures leave to
// cel-go. The function keeps the text and the scope in memory, instead of the checked expression
// and the environment of cel-go, which are larger.
func (e *Environment) later(source string) programs.Later {
	scope, compiler, origin := e.scope, e.compiler, e.origin
	return func() (*cel.Env, *ast.AST, error) {
		again, err := compiler.Environment(scope, origin)
		if err != nil {
			return nil, nil, err
		}
		env, err := again.env()
		if err != nil {
			return nil, nil, err
		}
		checked, invalid := again.check(source)
		if invalid != nil {
			return nil, nil, invalid
		}
		return env, checked.NativeRep(), nil
	}
}
