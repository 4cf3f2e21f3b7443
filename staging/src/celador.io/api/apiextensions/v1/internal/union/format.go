// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package union tells apart the alternatives of union types, whose values are an object or
// something else.
package union

import (
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/json"
)

// A Shape is the kind of an encoded value, as far as unions differ by it.
type Shape int

const (
	// Other is null, a string or a number. An empty input has it as well.
	Other Shape = iota
	// Object is an object, or a map of CBOR.
	Object
	// Array is a list.
	Array
	// False is the boolean.
	False
	// True is the boolean.
	True
)

// A Format is an encoding. Its functions are safe for concurrent use.
type Format struct {
	// Unmarshal decodes a value as apimachinery does.
	Unmarshal func(data []byte, into any) error
	// Shape returns the shape of a valid encoded value. It reads only the first byte.
	Shape func(data []byte) Shape
}

// JSON is the JSON format. Values must not start with white space.
var JSON = Format{
	Unmarshal: func(data []byte, into any) error { return json.Unmarshal(data, into) },
	Shape: func(data []byte) Shape {
		switch {
		case len(data) == 0:
			return Other
		case data[0] == '{':
			return Object
		case data[0] == '[':
			return Array
		case data[0] == 'f':
			return False
		case data[0] == 't':
			return True
		}
		return Other
	},
}

// CBOR is the CBOR format. The three highest bits of the first byte are the major type (RFC 8949,
// section 3.1). The booleans are simple values (section 3.3).
var CBOR = Format{
	Unmarshal: cbor.Unmarshal,
	Shape: func(data []byte) Shape {
		switch {
		case len(data) == 0:
			return Other
		case data[0]>>5 == 5:
			return Object
		case data[0]>>5 == 4:
			return Array
		case data[0] == 0xf4:
			return False
		case data[0] == 0xf5:
			return True
		}
		return Other
	},
}
