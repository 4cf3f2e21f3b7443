// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/programs"
)

// always is the version in which the environments introduce their variables. All releases that
// support policies have the variables, so every compatibility version declares them.
var always = version.MajorMinor(1, 0)

// A Compiler compiles expressions. It is safe for concurrent use.
type Compiler struct {
	base func() (*environment.EnvSet, error)
	envs map[Declarations]func() (*environment.EnvSet, error)
	bare func() *Compiler
	// Compositions use the cache, functions and lookupFunctions of their compiler. Their cache keys
	// contain scope, the digest of the variables and lookups that the policy declares, so that
	// expressions that read different variables do not share a program.
	cache     *programs.Cache[Program]
	functions programs.BaseFunctions
	// lookupFunctions returns the functions with those of lookups.
	lookupFunctions func() (programs.BaseFunctions, error)
	scope           programs.Digest
	// positions maps the names of the policy's variables in scope to their positions, by which
	// programs read them from a Series.
	positions map[string]int
	// composedBy is the compiler whose Compose method returned the composition of this compiler. It
	// is nil for other compilers.
	composedBy *Compiler
	// compositions holds released compositions. Constructing their environments takes 14 times as
	// long as compiling a policy.
	compositions sync.Pool
	// tracer is nil unless programs are traced.
	tracer Tracer
}

// Default returns the compiler for the server's own compatibility version. The first call fixes the
// version, so it must come after flags are parsed.
var Default = sync.OnceValue(func() *Compiler {
	return NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// NewCompiler returns a compiler whose expressions use the functions and types of the base
// environment. It extends base with the variables of policies on first use; if that fails, Compile
// returns an internal error.
func NewCompiler(base *environment.EnvSet) *Compiler {
	c := newCompiler(func() (*environment.EnvSet, error) { return base, nil }, newLookupsType())
	c.cache, c.functions = &programs.Cache[Program]{}, programs.NewBaseFunctions(base)
	c.lookupFunctions = sync.OnceValues(func() (programs.BaseFunctions, error) {
		extended, err := base.Extend(LookupDeclarations())
		if err != nil {
			return nil, err
		}
		return programs.NewBaseFunctions(extended), nil
	})
	return c
}

// newCompiler returns a compiler whose cache and functions the caller must set. lookups is the type
// of 'lookups'.
func newCompiler(base func() (*environment.EnvSet, error), lookups *apiservercel.DeclType) *Compiler {
	c := &Compiler{base: base, envs: map[Declarations]func() (*environment.EnvSet, error){}}
	add := func(in Declarations) {
		c.envs[in] = sync.OnceValues(func() (*environment.EnvSet, error) { return declare(base, in, lookups) })
	}
	for i := range 16 {
		in := Declarations{Params: i&1 > 0, Authorizer: i&2 > 0, Patches: i&4 > 0, Lookups: i&8 > 0}
		add(in)
		if !in.Patches {
			in.Self = true
			add(in)
		}
	}
	add(Declarations{Item: true})
	c.bare = sync.OnceValue(func() *Compiler { return c.Compose().Compiler })
	return c
}

// Bare returns the compiler for policies without variables. It declares 'variables' as an object
// without fields.
func (c *Compiler) Bare() *Compiler { return c.bare() }

// Compile parses, checks and plans an expression.
//
// Expressions of stored objects (environment.StoredExpressions) may use all functions and types of
// the environment. New expressions (environment.NewExpressions) may use only those that the
// compatibility version allows, and no JSONPatch whose op is a constant but no operation of JSON
// patches. The type of the result must be one of returns; cel.AnyType allows every type. If returns
// lists several types, so may the branches of the conditionals that form the result, as in 'c ?
// "text" : null'. The output type is then dynamic.
//
// Compile returns the same program for equal arguments while that program is in use. Concurrent
// calls with equal arguments compile once.
//
// An error has the type ErrorTypeInvalid, with line and column in its detail, if the expression is
// invalid, and ErrorTypeInternal otherwise.
func (c *Compiler) Compile(source string, in Declarations, origin environment.Type, returns ...*cel.Type) (*Program, *apiservercel.Error) {
	if c.tracer != nil {
		return c.compile(source, in, origin, returns)
	}
	return c.cache.Program(newCacheKey(c.scope, source, in, origin, returns), func() (*Program, *apiservercel.Error) {
		return c.compile(source, in, origin, returns)
	})
}

func (c *Compiler) compile(source string, in Declarations, origin environment.Type, returns []*cel.Type) (*Program, *apiservercel.Error) {
	env, err := c.env(in, origin)
	if err != nil {
		return nil, programs.InternalError("unexpected error loading CEL environment: %v", err)
	}
	functions, err := c.functionsFor(in, origin)
	if err != nil {
		return nil, programs.InternalError("unexpected error loading CEL environment: %v", err)
	}
	var rewrite func(*cel.Ast)
	ast, issues, err := functions.Check(env, source, nil)
	if issues != nil && len(returns) > 1 {
		if mixed := checkMixed(functions, env, source, returns); mixed != nil {
			ast, issues, rewrite = mixed, nil, func(parsed *cel.Ast) { mixResults(parsed) }
		}
	}
	if err != nil {
		return nil, programs.InternalError("compilation failed: %v", err)
	}
	if issues == nil && in.Patches && origin == environment.NewExpressions {
		issues = checkOperations(ast)
	}
	if issues != nil {
		return nil, programs.Invalid(issues)
	}
	if rewrite == nil && !allows(returns, ast.OutputType()) {
		return nil, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: mustReturn(returns, ast.OutputType())}
	}
	permanent, err := c.permanentEnv(in, origin)
	if err != nil {
		return nil, programs.InternalError("unexpected error loading CEL environment: %v", err)
	}
	later, err := programs.Encoded(permanent, ast)
	if err != nil {
		later = nil // the program keeps its environment
	}
	// An expression for which cel-go cannot plan a program is invalid, even if the evaluator
	// never needs that program.
	scope := evaluator.Scope{Variables: Variables, Positions: c.positions}
	if in.Patches {
		// Closures keep their type provider in memory, so they get that of the permanent
		// environment, which stays in memory anyway. It resolves the types of patches as the
		// provider of any composition does.
		scope.Constructor = permanent.CELTypeProvider()
	}
	finds := in.Lookups && finds(ast.NativeRep())
	program := &Program{output: ast.OutputType(), number: lastNumber.Add(1), perRequest: perRequest(ast.NativeRep()) && !finds, finds: finds}
	program.readsOldSelf = in.Self && reads(ast.NativeRep(), OldSelf)
	program.readsPath = in.Self && reads(ast.NativeRep(), Path)
	program.readsRequestTime = MayReadRequestTime(source) && readsRequestTime(ast.NativeRep())
	if in.Item {
		program.CostLimit = maxIndexCost
	}
	program.Panics.Source = source
	if c.tracer == nil {
		err = functions.Plan(env, ast, scope, later, true, &program.Program)
	} else {
		observe := func(ctx context.Context, steps []Step, cost uint64) { c.tracer.Evaluated(ctx, program, steps, cost) }
		err = functions.PlanTraced(env, permanent, rewrite, unmixResults, observe, &program.Program)
	}
	if err != nil {
		return nil, programs.InternalError("program instantiation failed: %v", err)
	}
	if in.Params {
		program.paramFields = paramFields(ast.NativeRep().Expr())
	}
	return program, nil
}

// functionsFor returns the functions that expressions with the declarations may call.
func (c *Compiler) functionsFor(in Declarations, origin environment.Type) (*programs.Builtins, error) {
	functions := c.functions
	if in.Lookups {
		var err error
		if functions, err = c.lookupFunctions(); err != nil {
			return nil, err
		}
	}
	return functions.Of(origin)
}

func (c *Compiler) env(in Declarations, origin environment.Type) (*cel.Env, error) {
	set, err := c.envs[in]()
	if err != nil {
		return nil, err
	}
	return set.Env(origin)
}

// permanentEnv returns an environment that can plan cel-go programs of checked expressions at any
// later time. The environment of a composition takes much memory and is reused for other policies,
// whose variables change it. Variables have types only while an expression is checked, so the
// environment of policies without variables serves instead.
func (c *Compiler) permanentEnv(in Declarations, origin environment.Type) (*cel.Env, error) {
	if c.composedBy != nil {
		c = c.composedBy.Bare()
	}
	return c.env(in, origin)
}

// allows reports whether output is one of the types in returns, to which Compile limits the result
// of an expression.
func allows(returns []*cel.Type, output *cel.Type) bool {
	return slices.ContainsFunc(returns, func(t *cel.Type) bool { return t.IsExactType(cel.AnyType) || output.IsExactType(t) })
}

func mustReturn(types []*cel.Type, output *cel.Type) string {
	if len(types) == 1 {
		return fmt.Sprintf("must evaluate to %v but got %v", types[0], output)
	}
	return fmt.Sprintf("must evaluate to one of %v but got %v", types, output)
}

// declare extends an environment with the variables that expressions may read. The object,
// oldObject and params have dynamic types, because one policy matches objects of several kinds.
func declare(base func() (*environment.EnvSet, error), in Declarations, lookups *apiservercel.DeclType) (*environment.EnvSet, error) {
	declared, err := base()
	if err != nil {
		return nil, err
	}
	if in.Item {
		return declared.Extend(environment.VersionedOptions{IntroducedVersion: always, EnvOptions: []cel.EnvOption{cel.Variable(Item, cel.DynType)}})
	}
	variables := []cel.EnvOption{
		cel.Variable(Object, cel.DynType),
		cel.Variable(OldObject, cel.DynType),
	}
	if in.Params {
		variables = append(variables, cel.Variable(Params, cel.DynType))
	}
	if in.Self {
		variables = append(variables, cel.Variable(Self, cel.DynType), cel.Variable(OldSelf, cel.DynType), cel.Variable(Path, cel.StringType))
	}
	if in.Authorizer {
		variables = append(variables,
			cel.Variable(Authorizer, library.AuthorizerType),
			cel.Variable(RequestResource, library.ResourceCheckType))
	}
	declared, err = declared.Extend(RequestDeclarations(), environment.VersionedOptions{IntroducedVersion: always, EnvOptions: variables})
	if err == nil && in.Lookups {
		declared, err = declared.Extend(LookupDeclarations(), environment.VersionedOptions{
			IntroducedVersion: always,
			EnvOptions:        []cel.EnvOption{cel.Variable(Lookups, lookups.CelType())},
			DeclTypes:         []*apiservercel.DeclType{lookups},
		})
	}
	if err != nil || !in.Patches {
		return declared, err
	}
	return declared.Extend(PatchDeclarations())
}

// PatchDeclarations declares JSONPatch, Object with the types of its fields, and
// jsonpatch.escapeKey. It must extend an environment that already declares all other types, because
// its type resolver falls back to the types of the environment that it extends.
func PatchDeclarations() environment.VersionedOptions {
	return environment.VersionedOptions{
		IntroducedVersion: always,
		EnvOptions: []cel.EnvOption{
			common.ResolverEnvOption(&patchTypes{}),
			environment.UnversionedLib(library.JSONPatch),
		},
	}
}

// RequestDeclarations declares 'request' and 'namespaceObject', which have the same types in every
// environment. 'request' always has the field time, also while the feature of request.time is off:
// expressions that read it compile then, and fail when they are evaluated.
func RequestDeclarations() environment.VersionedOptions {
	request, namespace := plugincel.BuildRequestType(), plugincel.BuildNamespaceType()
	request.Fields[RequestTime] = apiservercel.NewDeclField(RequestTime, apiservercel.TimestampType, true, nil, nil)
	return environment.VersionedOptions{
		IntroducedVersion: always,
		EnvOptions: []cel.EnvOption{
			cel.Variable(Request, request.CelType()),
			cel.Variable(NamespaceObject, namespace.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{request, namespace},
	}
}
