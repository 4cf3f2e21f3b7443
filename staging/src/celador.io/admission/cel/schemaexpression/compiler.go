// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"sync"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/internal/programs"
)

// Names of the variables that expressions read.
const (
	Self    = "self"
	OldSelf = "oldSelf"
)

// Default returns the compiler for the server's own compatibility version. The first call fixes the
// version, so it must come after flags are parsed.
var Default = sync.OnceValue(func() *Compiler {
	return NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// A Compiler compiles expressions. It is safe for concurrent use.
type Compiler struct {
	base      *environment.EnvSet
	functions programs.BaseFunctions
	programs  programs.Cache[Program]
	// tracer is nil unless programs are traced.
	tracer Tracer
}

// NewCompiler returns a compiler whose expressions use the functions and types of the base
// environment.
//
// Equal expressions of scopes that set only Self, OldSelf and NullResults share a program while it
// is in use, if the scopes have equal types. So the versions of a resource share programs, and
// resources with equal schemas do.
func NewCompiler(base *environment.EnvSet) *Compiler {
	return &Compiler{base: base, functions: programs.NewBaseFunctions(base)}
}

// CheckNodes returns an error if the macros of an expression copy so much that cel-go would take
// minutes to check it. It ignores all other errors. Call it before Kubernetes' code compiles an
// expression.
func (c *Compiler) CheckNodes(source string) error {
	builtins, err := c.functions.Of(environment.StoredExpressions)
	if err != nil {
		return err
	}
	return builtins.CheckNodes(source)
}

// OldSelfType selects whether and how a Scope declares oldSelf.
type OldSelfType int

const (
	// NoOldSelf does not declare oldSelf.
	NoOldSelf OldSelfType = iota
	// PlainOldSelf declares oldSelf with the type of self.
	PlainOldSelf
	// OptionalOldSelf declares oldSelf as an optional of the type of self, for rules with
	// optionalOldSelf.
	OptionalOldSelf
)

// A Scope describes what the expressions of one place in a schema may read and construct.
type Scope struct {
	// Self is the type of self. The type checker finds and compares object types by name, so each
	// object type in Self should have a name of its own, such as
	// apiservercel.DeclType.MaybeAssignTypeName assigns.
	Self *apiservercel.DeclType
	// OldSelf selects the declaration of oldSelf.
	OldSelf OldSelfType
	// Others declares variables other than self, oldSelf and Variables. If it declares Root, the
	// type of Root must be or contain the type of self: a FieldChecker gets only the type of Root,
	// and looks up types of self in it.
	Others []Declaration
	// Shared holds the variables that expressions read as fields of Variables. Nil if there are
	// none.
	Shared *Shared
	// Types resolves the types of objects that expressions may construct. Nil if there are none. It
	// may implement FieldChecker.
	Types common.TypeResolver
	// NullResults makes Compile accept the literal null as a branch of the conditionals that form
	// the result, as in 'has(self.a) ? self.a : null'. The result is then an optional: null is
	// optional.none(). has() of a field in an unset object is false then, rather than an error.
	NullResults bool
	// CostLimit is the highest cost of one evaluation. 0 means celconfig.PerCallLimit, as in
	// Kubernetes.
	CostLimit uint64
}
