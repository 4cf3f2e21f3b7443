// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
)

// Overloads holds the overloads of an environment's functions. It is immutable and safe for
// concurrent use.
type Overloads struct {
	overloads map[string][]overload
}

type overload struct {
	*decls.OverloadDecl
	// generic is set if the overload has type parameters.
	generic bool
}

// NewOverloads returns the overloads of env, which are also those of all environments that extend
// env with variables and types only.
func NewOverloads(env *cel.Env) *Overloads {
	f := &Overloads{overloads: map[string][]overload{}}
	for name, function := range env.Functions() {
		for _, o := range function.OverloadDecls() {
			f.overloads[name] = append(f.overloads[name], overload{o, len(o.TypeParams()) > 0})
		}
	}
	return f
}

// call returns the shape of the result of a function. If several overloads fit the arguments, it
// joins the shapes of their results.
func (i *inference) call(function string, member bool, arguments []*shape) *shape {
	var result *shape
	several := false
	for _, o := range i.functions.overloads[function] {
		if o.IsMemberFunction() != member || len(o.ArgTypes()) != len(arguments) {
			continue
		}
		var parameters map[string]*shape
		if o.generic {
			parameters = map[string]*shape{}
		}
		fits := true
		for at, t := range o.ArgTypes() {
			fits = fits && i.fits(t, arguments[at], parameters)
		}
		if !fits {
			continue
		}
		returned := i.instantiate(o.ResultType(), parameters)
		if result == nil {
			result = returned
		} else {
			result, several = i.join(result, returned), true
		}
	}
	// A call with dynamic arguments has the dynamic type, unless only one overload fits.
	if result == nil || several && slices.ContainsFunc(arguments, func(s *shape) bool { return isDynamic(s.resolve().kind) }) {
		return dynamic
	}
	return result
}

// fits reports whether an argument can have the declared type of a parameter. It binds the type
// parameters of the function in parameters. If arguments bind one of them to several shapes, it
// joins the shapes.
func (i *inference) fits(declared *types.Type, argument *shape, parameters map[string]*shape) bool {
	argument = argument.resolve()
	if i.exhausted() {
		return true
	}
	if declared.Kind() == types.TypeParamKind {
		bound := parameters[declared.TypeName()]
		if bound == nil {
			parameters[declared.TypeName()] = argument
		} else {
			parameters[declared.TypeName()] = i.join(bound, argument)
		}
		return true
	}
	declaredParameters := declared.Parameters()
	switch {
	case isDynamic(declared.Kind()) || isDynamic(argument.kind):
		return true
	case argument.kind == types.NullTypeKind:
		return true // objects may be null
	case argument.kind == types.TypeParamKind:
		if len(declaredParameters) > 0 {
			i.join(argument, i.instantiate(declared, parameters))
		}
		return true
	case argument.kind != declared.Kind() || len(argument.parameters) != len(declaredParameters):
		return false
	}
	for at, t := range declaredParameters {
		if !i.fits(t, argument.parameters[at], parameters) {
			return false
		}
	}
	return true
}

func isDynamic(kind types.Kind) bool {
	return kind == types.DynKind || kind == types.AnyKind || kind == types.ErrorKind
}

// instantiate returns the shape of a declared type with its type parameters replaced. It adds an
// unbound shape for a type parameter that is not bound yet.
func (i *inference) instantiate(t *types.Type, parameters map[string]*shape) *shape {
	if t.Kind() == types.TypeParamKind {
		bound := parameters[t.TypeName()]
		if bound == nil {
			bound = unbound()
			parameters[t.TypeName()] = bound
		}
		return bound
	}
	if len(t.Parameters()) == 0 || parameters == nil {
		return i.shapeOf(t)
	}
	s := &shape{kind: t.Kind(), name: t.TypeName()}
	for _, parameter := range t.Parameters() {
		s.parameters = append(s.parameters, i.instantiate(parameter, parameters))
	}
	return s
}
