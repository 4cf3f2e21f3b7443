// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jsonlibrary is a CEL library for JSON texts. Conversion rules use it to keep in an
// annotation what the other version cannot hold:
//
//	json.encode(<dyn>) <string>
//	json.decode(<string>) <dyn>
//
// json.encode returns the JSON text of a value, with sorted keys. The values of a map or list
// literal that it encodes may have different types. Values that JSON has no type for become the
// strings that custom resources have for them: bytes in base64, timestamps as in RFC 3339,
// durations as 1h0m0s. optional.none() becomes null. json.decode returns the value of a JSON text:
// numbers without fraction and exponent that fit are int, others double. Texts of more than MaxSize
// bytes are an error for both.
package jsonlibrary

import (
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// MaxSize bounds JSON texts, in bytes. It is the limit that Kubernetes has for the annotations of
// an object.
const MaxSize = 256 * 1024

const (
	encodeOverload = "json_encode_dyn"
	decodeOverload = "json_decode_string"
	// costFactor is the cost for each byte of a text: one traversal and the construction of the
	// result, as for split and replace in Kubernetes.
	costFactor = 0.2
)

// Options returns the options that add the library to an environment set.
func Options() environment.VersionedOptions {
	return environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Lib(library{})},
	}
}

// library implements cel.SingletonLibrary.
type library struct{}

// LibraryName implements cel.SingletonLibrary.
func (library) LibraryName() string { return "celador.json" }

// CompileOptions implements cel.Library.
func (library) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.ASTValidators(literals{}),
		cel.Function(encodeFunction, cel.Overload(encodeOverload, []*cel.Type{cel.DynType}, cel.StringType, cel.UnaryBinding(encode))),
		cel.Function("json.decode", cel.Overload(decodeOverload, []*cel.Type{cel.StringType}, cel.DynType, cel.UnaryBinding(decode))),
	}
}

// ProgramOptions implements cel.Library.
func (library) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{cel.CostTrackerOptions(
		interpreter.OverloadCostTracker(encodeOverload, func(_ []ref.Val, result ref.Val) *uint64 { return cost(result) }),
		interpreter.OverloadCostTracker(decodeOverload, func(args []ref.Val, _ ref.Val) *uint64 { return cost(args[0]) }),
	)}
}

// cost returns the cost of writing or reading a text. If text is an error, the text exceeded
// MaxSize, and the cost is that of the longest text.
func cost(text ref.Val) *uint64 {
	size := MaxSize
	if s, ok := text.(types.String); ok {
		size = len(s)
	}
	total := 1 + uint64(math.Ceil(float64(size)*costFactor))
	return &total
}
