// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// LookupsTypeName is the name of the type of 'lookups', whose fields are the policy's lookups.
const LookupsTypeName = "kubernetes.lookups"

// LookupType returns the type of a lookup of objects of the given type.
func LookupType(object *cel.Type) *cel.Type { return cel.OpaqueType("kubernetes.Lookup", object) }

// dynamicLookup is the declared type of lookups whose objects have dynamic type.
var dynamicLookup = apiservercel.NewSimpleTypeWithMinSize("kubernetes.Lookup", LookupType(cel.DynType), nil, 1)

func newLookupsType() *apiservercel.DeclType {
	return apiservercel.NewObjectType(LookupsTypeName, map[string]*apiservercel.DeclField{})
}

// A Lookup finds objects for the functions of 'lookups.<name>'. Errors become errors of the
// expression.
type Lookup interface {
	// Get returns an object, or nil if there is none. If qualified is not set, the lookup chooses
	// the namespace.
	Get(namespace, name string, qualified bool) (ref.Val, error)
	// List returns the objects whose labels match the selector, an empty one for all.
	List(selector string) (traits.Lister, error)
	// ListCost returns the cost of a call of List in CEL cost units, also if List returns an error:
	// the cost of parsing the selector, and one for each object and each value that the selector
	// compares the object with. Without a selector, it is one for each object.
	ListCost(selector string) int
	// Indexed returns the objects that the index of the lookup has under a key.
	Indexed(key string) (traits.Lister, error)
	// IndexedLen returns the number of objects that Indexed returns, or 0 if it returns an error.
	IndexedLen(key string) int
}

// LookupCosts counts what the calls of list() and indexed() cost in one evaluation, so that the
// error of an exceeded cost limit can name these functions. The lookups of a policy share one
// LookupCosts. Not safe for concurrent use.
type LookupCosts struct{ list, indexed int }

// A lookupActivation is an activation of policies that may have lookups.
type lookupActivation interface {
	// LookupCosts returns nil if the policy has no lookups.
	LookupCosts() *LookupCosts
}

// LookupValue returns the value of 'lookups.<name>', which adds what its calls cost to costs.
func LookupValue(lookup Lookup, costs *LookupCosts) ref.Val { return lookupValue{lookup, costs} }

type lookupValue struct {
	Lookup
	costs *LookupCosts
}

var lookupValueType = LookupType(cel.DynType)

// Type implements ref.Val.
func (l lookupValue) Type() ref.Type { return lookupValueType }

// Value implements ref.Val.
func (l lookupValue) Value() any { return l.Lookup }

// Equal implements ref.Val. Lookups cannot be compared.
func (l lookupValue) Equal(other ref.Val) ref.Val { return types.MaybeNoSuchOverloadErr(other) }

// ConvertToNative implements ref.Val.
func (l lookupValue) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("a lookup cannot be converted to %v: call get(), list() or indexed()", to)
}

// ConvertToType implements ref.Val.
func (l lookupValue) ConvertToType(to ref.Type) ref.Val {
	if to == types.TypeType {
		return lookupValueType
	}
	return types.NewErr("a lookup cannot be converted to %s: call get(), list() or indexed()", to.TypeName())
}

const (
	// callCost is what each call of get(), list() or indexed() costs, in CEL cost units. get()
	// costs one more, indexed() one more for each object that it returns, and list()
	// Lookup.ListCost more.
	callCost = 10
	// maxIndexCost is the highest cost of an index for one object. It is lower than that of other
	// expressions, because a new index is evaluated for all objects of a kind.
	maxIndexCost = celconfig.PerCallLimit / 10
)

// The overloads of the functions of lookups.
const (
	getName      = "lookup_get_string"
	getQualified = "lookup_get_string_string"
	listAll      = "lookup_list"
	listSelected = "lookup_list_string"
	indexed      = "lookup_indexed_string"
)

// finds reports whether an expression calls list() or indexed().
func finds(checked *ast.AST) bool {
	for _, reference := range checked.ReferenceMap() {
		if slices.ContainsFunc(reference.OverloadIDs, func(id string) bool { return id == listAll || id == listSelected || id == indexed }) {
			return true
		}
	}
	return false
}

// lookupCosts returns where the lookups of the series add their costs, or nil if it has none.
func (s *Series) lookupCosts() *LookupCosts {
	if a, ok := s.Activation.(lookupActivation); ok {
		return a.LookupCosts()
	}
	return nil
}

// blamed is the cost from which on calls of list() or indexed() count as a reason for an exceeded
// cost limit of an expression: the error then names the function.
const blamed = celconfig.PerCallLimit / 10

// explain returns err, the error of an evaluation whose calls have the costs c. If the evaluation
// has exceeded the cost limit of an expression, explain adds the functions whose calls cost a large
// part of the limit, and what to do instead. repeated is the number of times that c counts each
// call: 2 if cel-go has repeated the evaluation of closures, and otherwise 1.
func (c LookupCosts) explain(err error, repeated int) error {
	var cancelled interpreter.EvalCancelledError
	if !errors.As(err, &cancelled) || cancelled.Cause != interpreter.CostLimitExceeded {
		return err
	}
	var advice []string
	if list := c.list / repeated; list >= blamed {
		advice = append(advice, fmt.Sprintf("list() has cost %d, a unit for each object in the scope of the lookup and value of the selector: call get() or indexed()", list))
	}
	if indexed := c.indexed / repeated; indexed >= blamed {
		advice = append(advice, fmt.Sprintf("indexed() has cost %d, a unit for each object that it returns: let the index return keys that fewer objects have", indexed))
	}
	if advice == nil {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(advice, "; "))
}

// LookupDeclarations declares the functions of lookups, but not 'lookups'.
func LookupDeclarations() environment.VersionedOptions {
	object := cel.TypeParamType("T")
	lookup, list := LookupType(object), cel.ListType(object)
	return environment.VersionedOptions{
		IntroducedVersion: always,
		EnvOptions: []cel.EnvOption{
			cel.Function("get",
				cel.MemberOverload(getName, []*cel.Type{lookup, cel.StringType}, cel.OptionalType(object), cel.BinaryBinding(func(l, name ref.Val) ref.Val {
					return get(l, types.String(""), name, false)
				})),
				cel.MemberOverload(getQualified, []*cel.Type{lookup, cel.StringType, cel.StringType}, cel.OptionalType(object), cel.FunctionBinding(func(args ...ref.Val) ref.Val {
					return get(args[0], args[1], args[2], true)
				}))),
			cel.Function("list",
				cel.MemberOverload(listAll, []*cel.Type{lookup}, list, cel.UnaryBinding(func(l ref.Val) ref.Val {
					return listObjects(l, types.String(""))
				})),
				cel.MemberOverload(listSelected, []*cel.Type{lookup, cel.StringType}, list, cel.BinaryBinding(listObjects))),
			cel.Function("indexed",
				cel.MemberOverload(indexed, []*cel.Type{lookup, cel.StringType}, list, cel.BinaryBinding(indexedObjects))),
		},
		ProgramOptions: []cel.ProgramOption{cel.CostTrackerOptions(
			interpreter.OverloadCostTracker(getName, costOf(looked)),
			interpreter.OverloadCostTracker(getQualified, costOf(looked)),
			interpreter.OverloadCostTracker(listAll, costOf(examined)),
			interpreter.OverloadCostTracker(listSelected, costOf(examined)),
			interpreter.OverloadCostTracker(indexed, costOf(returned)),
		)},
	}
}

func get(l, namespace, name ref.Val, qualified bool) ref.Val {
	lookup, ok := l.(lookupValue)
	ns, isString := namespace.(types.String)
	n, hasName := name.(types.String)
	if !ok || !isString || !hasName {
		return types.MaybeNoSuchOverloadErr(l)
	}
	object, err := lookup.Get(string(ns), string(n), qualified)
	switch {
	case err != nil:
		return types.WrapErr(err)
	case object == nil:
		return types.OptionalNone
	default:
		return types.OptionalOf(object)
	}
}

func listObjects(l, selector ref.Val) ref.Val {
	return find(l, selector, Lookup.List, func(l lookupValue, selector string) int {
		cost := l.ListCost(selector)
		l.costs.list += cost
		return cost
	})
}

func indexedObjects(l, key ref.Val) ref.Val {
	return find(l, key, Lookup.Indexed, func(l lookupValue, key string) int {
		cost := l.IndexedLen(key)
		l.costs.indexed += cost
		return cost
	})
}

// find calls a function of a lookup, unless its cost alone exceeds the limit of an expression.
func find(l, argument ref.Val, function func(Lookup, string) (traits.Lister, error), cost func(lookupValue, string) int) ref.Val {
	lookup, ok := l.(lookupValue)
	text, isString := argument.(types.String)
	if !ok || !isString {
		return types.MaybeNoSuchOverloadErr(l)
	}
	if n := cost(lookup, string(text)); n > celconfig.PerCallLimit {
		return types.WrapErr(tooManyError(n))
	}
	found, err := function(lookup.Lookup, string(text))
	if err != nil {
		return types.WrapErr(err)
	}
	return found
}

// A tooManyError is the error of a call of list() or indexed() that was not made, because it alone
// costs more than the limit of an expression. The call is charged nevertheless, which ends the
// evaluation.
type tooManyError int

// Error implements error.
func (e tooManyError) Error() string { return fmt.Sprintf("the call costs %d", int(e)) }

// costOf returns the tracker of a function that costs callCost and the given cost.
func costOf(more func(args []ref.Val, result ref.Val) int) interpreter.FunctionTracker {
	return func(args []ref.Val, result ref.Val) *uint64 {
		cost, tooMany := uint64(callCost), tooManyError(0)
		if failed, ok := result.(*types.Err); ok && errors.As(failed, &tooMany) {
			cost += uint64(tooMany)
		} else {
			cost += uint64(more(args, result))
		}
		return &cost
	}
}

func looked(_ []ref.Val, result ref.Val) int {
	if types.IsUnknownOrError(result) {
		return 0
	}
	return 1
}

func examined(args []ref.Val, _ ref.Val) int {
	lookup, ok := args[0].(lookupValue)
	if !ok {
		return 0
	}
	if len(args) == 1 {
		return lookup.ListCost("")
	}
	if selector, ok := args[1].(types.String); ok {
		return lookup.ListCost(string(selector))
	}
	return 0
}

func returned(_ []ref.Val, result ref.Val) int {
	if list, ok := result.(traits.Lister); ok {
		return int(list.Size().(types.Int))
	}
	return 0
}
