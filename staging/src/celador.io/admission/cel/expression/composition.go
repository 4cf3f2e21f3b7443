// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A Composition compiles the expressions of one policy, which may read the policy's variables as
// 'variables.<name>'. It is not safe for concurrent use.
type Composition struct {
	*Compiler
	fields *apiservercel.DeclType
	// lookups is the type of 'lookups'.
	lookups *apiservercel.DeclType
	// declared is the number of calls of Declare so far, and so the position of the next variable.
	// types tells which variables keep the types of their expressions, and which become dynamic
	// because their types are too large.
	declared int
	types    VariableTypes
}

// Compose returns a composition for one policy without variables. The caller passes it to Release
// after compiling the policy, which makes the next call of Compose cheap.
func (c *Compiler) Compose() *Composition {
	if composition, ok := c.compositions.Get().(*Composition); ok {
		return composition
	}
	return c.newComposition()
}

// Release takes back a composition that Compose of the same compiler returned, for reuse by other
// policies. The caller must not use the composition any more. Its programs stay valid, because the
// names and types of variables matter only while an expression is compiled.
func (c *Compiler) Release(composition *Composition) {
	// Clearing the maps instead would keep the memory of the largest policy.
	composition.fields.Fields, composition.positions = map[string]*apiservercel.DeclField{}, map[string]int{}
	composition.lookups.Fields = map[string]*apiservercel.DeclField{}
	composition.declared, composition.types, composition.scope = 0, VariableTypes{}, noVariables
	c.compositions.Put(composition)
}

func (c *Compiler) newComposition() *Composition {
	variables := apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	// The base is extended while 'variables' has no fields: the environments would keep the types
	// of fields that it has now, also when another policy uses the composition.
	base, err := c.base()
	if err == nil {
		base, err = base.Extend(environment.VersionedOptions{
			IntroducedVersion: always,
			EnvOptions:        []cel.EnvOption{cel.Variable(Variables, variables.CelType())},
			DeclTypes:         []*apiservercel.DeclType{variables},
		})
	}
	lookups := newLookupsType()
	composed := newCompiler(func() (*environment.EnvSet, error) { return base, err }, lookups)
	composed.cache, composed.functions, composed.lookupFunctions, composed.scope, composed.tracer = c.cache, c.functions, c.lookupFunctions, noVariables, c.tracer
	composed.composedBy = c
	composed.positions = map[string]int{}
	return &Composition{Compiler: composed, fields: variables, lookups: lookups}
}

// Declare compiles a variable and declares it for all later expressions of the policy. A variable
// that does not compile is declared with dynamic type, so that expressions that read it still
// compile. Declare returns the errors of Compile.
func (c *Composition) Declare(name, source string, in Declarations, origin environment.Type) (*Program, *apiservercel.Error) {
	program, err := c.Compile(source, in, origin, cel.AnyType)
	declared := apiservercel.DynType
	if err == nil {
		declared = declType(c.types.Of(program.output))
	}
	// The environments refer to this type and look up its fields when an expression is checked.
	c.fields.Fields[name] = apiservercel.NewDeclField(name, declared, true, nil, nil)
	c.positions[name] = c.declared
	c.declared++
	c.scope = extended(c.scope, name, declared.CelType())
	return program, err
}

// DeclareLookups declares the names of the policy's lookups, for all later expressions that are
// compiled with Declarations.Lookups. Their objects have dynamic type.
func (c *Composition) DeclareLookups(names ...string) {
	for _, name := range names {
		c.lookups.Fields[name] = apiservercel.NewDeclField(name, dynamicLookup, true, nil, nil)
		c.scope = extended(c.scope, Lookups+"."+name, dynamicLookup.CelType())
	}
}

var scalars = map[*cel.Type]*apiservercel.DeclType{
	cel.BoolType:      apiservercel.BoolType,
	cel.BytesType:     apiservercel.BytesType,
	cel.DoubleType:    apiservercel.DoubleType,
	cel.DurationType:  apiservercel.DurationType,
	cel.IntType:       apiservercel.IntType,
	cel.NullType:      apiservercel.NullType,
	cel.StringType:    apiservercel.StringType,
	cel.TimestampType: apiservercel.TimestampType,
	cel.UintType:      apiservercel.UintType,
	cel.AnyType:       apiservercel.AnyType,
}

// declType returns the declaration of a checked type. Types without a declaration, such as objects
// and library types, become dynamic.
func declType(t *cel.Type) *apiservercel.DeclType {
	if scalar, ok := scalars[t]; ok {
		return scalar
	}
	switch parameters := t.Parameters(); {
	case t.Kind() == types.ListKind && len(parameters) == 1:
		return apiservercel.NewListType(declType(parameters[0]), -1)
	case t.Kind() == types.MapKind && len(parameters) == 2:
		return apiservercel.NewMapType(declType(parameters[0]), declType(parameters[1]), -1)
	default:
		return apiservercel.DynType
	}
}
