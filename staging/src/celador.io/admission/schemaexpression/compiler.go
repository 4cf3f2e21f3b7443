// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Names of the variables that expressions read.
const (
	Self    = "self"
	OldSelf = "oldSelf"
)

var always = version.MajorMinor(1, 0)

// Default returns the compiler for the server's own compatibility version. The first call fixes the version, so it must
// come after flags are parsed.
var Default = sync.OnceValue(func() *Compiler {
	return NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// A Compiler compiles expressions. It is safe for concurrent use.
type Compiler struct {
	base *environment.EnvSet
}

// NewCompiler returns a compiler whose expressions use the functions and types of the base environment.
func NewCompiler(base *environment.EnvSet) *Compiler { return &Compiler{base: base} }

// OldSelfType selects whether and how a Scope declares oldSelf.
type OldSelfType int

const (
	// NoOldSelf does not declare oldSelf.
	NoOldSelf OldSelfType = iota
	// PlainOldSelf declares oldSelf with the type of self.
	PlainOldSelf
	// OptionalOldSelf declares oldSelf as an optional of the type of self, for rules with optionalOldSelf.
	OptionalOldSelf
)

// A Scope describes what the expressions of one place in a schema may read and construct.
type Scope struct {
	// Self is the type of self. Object types in it should have names, see apiservercel.DeclType.MaybeAssignTypeName.
	Self *apiservercel.DeclType
	// OldSelf selects the declaration of oldSelf.
	OldSelf OldSelfType
	// Types resolves the types of objects that expressions may construct. Nil if there are none.
	Types common.TypeResolver
	// NullResults makes Compile accept the literal null as a branch of the conditionals that form the result,
	// as in 'has(self.a) ? self.a : null'. The result is then an optional: null is optional.none().
	NullResults bool
	// MaxDynamicSize is the estimated size of values that have no static type and do not come from self, such as those that a
	// function decodes from a text. 0 means that they can have any size, so that comprehensions over them exceed all limits.
	MaxDynamicSize uint64
}

// An Environment compiles the expressions of one scope. It is safe for concurrent use.
type Environment struct {
	scope Scope
	env   *cel.Env
}

// Environment returns the environment of a scope. Expressions of stored objects (environment.StoredExpressions) may use
// all functions and types of the base environment. New expressions (environment.NewExpressions) may use only those
// that the compatibility version allows.
func (c *Compiler) Environment(scope Scope, origin environment.Type) (*Environment, error) {
	options := environment.VersionedOptions{
		IntroducedVersion: always,
		EnvOptions:        []cel.EnvOption{cel.Variable(Self, scope.Self.CelType())},
		DeclTypes:         []*apiservercel.DeclType{scope.Self},
	}
	switch scope.OldSelf {
	case PlainOldSelf:
		options.EnvOptions = append(options.EnvOptions, cel.Variable(OldSelf, scope.Self.CelType()))
	case OptionalOldSelf:
		options.EnvOptions = append(options.EnvOptions, cel.Variable(OldSelf, types.NewOptionalType(scope.Self.CelType())))
	}
	set, err := c.base.Extend(options)
	if err != nil {
		return nil, err
	}
	if scope.Types != nil {
		// A resolver falls back to the types of the environment that it extends.
		set, err = set.Extend(environment.VersionedOptions{
			IntroducedVersion: always,
			EnvOptions:        []cel.EnvOption{common.ResolverEnvOption(scope.Types)},
		})
		if err != nil {
			return nil, err
		}
	}
	env, err := set.Env(origin)
	if err != nil {
		return nil, err
	}
	return &Environment{scope: scope, env: env}, nil
}
