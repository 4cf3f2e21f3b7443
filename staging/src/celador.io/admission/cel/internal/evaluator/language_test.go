// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/limits"
)

// A language is an environment with the library and the program options to plan its expressions.
type language struct {
	*cel.Env
	library *evaluator.Library
	options []cel.ProgramOption
}

// policyVariables holds the types of the policy's variables, which are fields of the object
// variables.
var policyVariables = map[string]*apiservercel.DeclType{
	"number": apiservercel.IntType, "text": apiservercel.StringType, "any": apiservercel.DynType, "containers": apiservercel.NewListType(apiservercel.DynType, -1),
	"broken": apiservercel.BoolType, "__namespace__": apiservercel.StringType,
}

// variableNames holds the names of the policy's variables by position.
var variableNames = []string{"number", "text", "any", "containers", "broken", "__namespace__"}

func positionsOf(names []string) map[string]int {
	positions := map[string]int{}
	for i, name := range names {
		positions[name] = i
	}
	return positions
}

// kubernetes returns the environment of policies, extended with a variable of every type and with
// cel.bind. No Kubernetes environment declares cel.bind; its expansion is a comprehension that is
// none of the other macros.
var kubernetes = sync.OnceValue(func() *language {
	request, namespace := plugincel.BuildRequestType(), plugincel.BuildNamespaceType()
	fields := map[string]*apiservercel.DeclField{}
	for name, t := range policyVariables {
		fields[name] = apiservercel.NewDeclField(name, t, true, nil, nil)
	}
	variables := apiservercel.NewObjectType("kubernetes.variables", fields)
	options := []cel.EnvOption{
		ext.Bindings(ext.BindingsVersion(0)),
		cel.Variable("request", request.CelType()),
		cel.Variable("namespaceObject", namespace.CelType()),
		cel.Variable("variables", variables.CelType()),
		cel.Variable("authorizer", library.AuthorizerType),
		cel.Variable("authorizer.requestResource", library.ResourceCheckType),
	}
	for name, t := range map[string]*cel.Type{
		"object": cel.DynType, "oldObject": cel.DynType, "params": cel.DynType, "any": cel.DynType,
		"b": cel.BoolType, "i": cel.IntType, "j": cel.IntType, "u": cel.UintType, "d": cel.DoubleType, "s": cel.StringType, "t": cel.StringType,
		"bytesOf": cel.BytesType, "nothing": cel.NullType, "span": cel.DurationType, "moment": cel.TimestampType,
		"ints": cel.ListType(cel.IntType), "texts": cel.ListType(cel.StringType), "anys": cel.ListType(cel.DynType), "lists": cel.ListType(cel.ListType(cel.IntType)),
		"scores": cel.MapType(cel.StringType, cel.IntType), "labels": cel.MapType(cel.StringType, cel.StringType),
		"byInt": cel.MapType(cel.IntType, cel.StringType), "anyMap": cel.MapType(cel.DynType, cel.DynType),
		"maybe": cel.OptionalType(cel.IntType), "maybeText": cel.OptionalType(cel.StringType),
	} {
		options = append(options, cel.Variable(name, t))
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
		DeclTypes:         []*apiservercel.DeclType{request, namespace, variables},
	})
	if err != nil {
		panic(err)
	}
	return newLanguage(set.StoredExpressionsEnv())
})

func newLanguage(env *cel.Env, options ...cel.ProgramOption) *language {
	functions, err := evaluator.NewLibrary(env)
	if err != nil {
		panic(err)
	}
	return &language{env, functions, options}
}

// A program is an expression that was planned by cel-go and by the evaluator.
type program struct {
	source    string
	ast       *cel.Ast
	reference cel.Program
	// planned is nil for an expression that Plan declines, and reason is then Plan's error.
	planned *evaluator.Closures
	reason  error
}

// compile returns an error for an expression that does not compile, or that cel-go cannot plan.
func (l *language) compile(source string) (*program, error) {
	ast, issues := l.Compile(source)
	if issues != nil {
		return nil, issues.Err()
	}
	return l.plan(source, ast)
}

func (l *language) plan(source string, ast *cel.Ast) (p *program, err error) {
	defer func() {
		// cel-go panics when it folds a map literal with keys that Go cannot hash.
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	// The decorator replaces the functions that change their arguments. TestDecorated compares the
	// programs with and without it.
	reference, err := l.Program(ast, append(slices.Clip(l.options), cel.InterruptCheckFrequency(celconfig.CheckFrequency),
		cel.CustomDecoratorV2(limits.Decorator(ast.NativeRep(), l.library)))...)
	if err != nil {
		return nil, err
	}
	p = &program{source: source, ast: ast, reference: reference}
	p.planned, p.reason = evaluator.Plan(l.Env, ast, l.library, evaluator.Scope{Variables: "variables", Positions: positionsOf(variableNames), Constructor: l.CELTypeProvider()})
	return p, nil
}
