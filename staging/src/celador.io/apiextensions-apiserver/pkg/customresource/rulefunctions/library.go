// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulefunctions is a CEL library with the functions that conversion rules and default rules
// have in addition to those of validation rules:
//
//	<map(K, V)>.merge(<map(K, V)>) <map(K, V)>
//	<map(K, V)>.set(<K>, <V>) <map(K, V)>
//	<map(K, V)>.remove(<K>) <map(K, V)>
//	<map(K, V)>.removeAll(<list(K)>) <map(K, V)>
//	<duration>.toText() <string>
//	<Quantity>.toText() <string>
//	<Quantity>.asMilliValue() <int>
//
// The functions on maps return a copy. In merge, the entries of the argument win. remove and
// removeAll ignore keys that the map does not have. A duration has the text that Go programs write,
// such as 5m0s; string() returns 300s. duration() reads both. A quantity has its canonical text,
// such as 500m for quantity('0.5'). asMilliValue returns its thousandfold, rounded up, or an error
// if an int cannot hold it.
//
// The package also adds cel-go's libraries math, regex and base64, with costs where cel-go has
// none, and expands optMap and optFlatMap without copying their target.
package rulefunctions

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// NewCompiler returns a compiler of rules. They may call what all expressions in schemas may call,
// the functions of this package and those that more adds.
func NewCompiler(more ...environment.VersionedOptions) (*schemaexpression.Compiler, error) {
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(append(more, Options())...)
	if err != nil {
		return nil, fmt.Errorf("adding the functions of rules to Kubernetes' functions: %w", err)
	}
	return schemaexpression.NewCompiler(base), nil
}

// Options returns the options that add the functions and macros to an environment set.
func Options() environment.VersionedOptions {
	return environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			ext.Math(ext.MathVersion(2)),
			ext.Regex(ext.RegexVersion(0)),
			// Version 0 is pinned, because later versions add a json.encode of their own.
			ext.Encoders(ext.EncodersVersion(0)),
			cel.Lib(library{}),
			optionalMacros(),
		},
	}
}

// library implements cel.SingletonLibrary.
type library struct{}

var _ cel.SingletonLibrary = library{}

// LibraryName implements cel.SingletonLibrary.
func (library) LibraryName() string { return "celador.rules" }

// CompileOptions implements cel.Library.
func (library) CompileOptions() []cel.EnvOption {
	key, value := cel.TypeParamType("K"), cel.TypeParamType("V")
	entries := cel.MapType(key, value)
	return []cel.EnvOption{
		cel.Function("merge", cel.MemberOverload("map_merge_map", []*cel.Type{entries, entries}, entries, cel.BinaryBinding(merge))),
		cel.Function("set", cel.MemberOverload("map_set_key", []*cel.Type{entries, key, value}, entries, cel.FunctionBinding(set))),
		cel.Function("remove", cel.MemberOverload("map_remove_key", []*cel.Type{entries, key}, entries, cel.BinaryBinding(remove))),
		cel.Function("removeAll", cel.MemberOverload("map_remove_all", []*cel.Type{entries, cel.ListType(key)}, entries, cel.BinaryBinding(removeAll))),
		cel.Function("toText",
			cel.MemberOverload("duration_to_text", []*cel.Type{cel.DurationType}, cel.StringType, cel.UnaryBinding(durationText)),
			cel.MemberOverload("quantity_to_text", []*cel.Type{apiservercel.QuantityType}, cel.StringType, cel.UnaryBinding(quantityText))),
		cel.Function("asMilliValue", cel.MemberOverload("quantity_get_milli", []*cel.Type{apiservercel.QuantityType}, cel.IntType, cel.UnaryBinding(milliValue))),
	}
}

// ProgramOptions implements cel.Library.
func (library) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{cel.CostTrackerOptions(trackers()...)}
}

func durationText(v ref.Val) ref.Val {
	d, ok := v.(types.Duration)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	return types.String(d.Duration.String())
}

// quantityOf returns a copy of a quantity. The methods of a quantity write to it, to cache its
// text, so evaluations that may run at the same time must not share one.
func quantityOf(v ref.Val) (resource.Quantity, bool) {
	q, ok := v.Value().(*resource.Quantity)
	if !ok {
		return resource.Quantity{}, false
	}
	return q.DeepCopy(), true
}

func quantityText(v ref.Val) ref.Val {
	q, ok := quantityOf(v)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	return types.String(q.String())
}

// mostMilli is the greatest quantity whose thousandfold an int can hold.
var mostMilli = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)

func milliValue(v ref.Val) ref.Val {
	q, ok := quantityOf(v)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	most := mostMilli.DeepCopy()
	least := mostMilli.DeepCopy()
	least.Neg()
	if q.Cmp(most) > 0 || q.Cmp(least) < 0 {
		return types.NewErr("asMilliValue: the thousandfold of %s does not fit into an int", q.String())
	}
	return types.Int(q.MilliValue())
}
