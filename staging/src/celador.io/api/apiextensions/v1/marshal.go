// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"errors"

	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/json"
)

// A format is an encoding of the union types.
type format struct {
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	// shape returns the shape of an encoded value from its first byte.
	shape func(first byte) shape
}

// A shape is what tells the alternatives of a union apart.
type shape int

const (
	scalar shape = iota
	object
	array
	falsehood
	truth
)

var jsonFormat = format{
	marshal:   json.Marshal,
	unmarshal: func(data []byte, into any) error { return json.Unmarshal(data, into) },
	shape: func(first byte) shape {
		switch first {
		case '{':
			return object
		case '[':
			return array
		case 'f':
			return falsehood
		case 't':
			return truth
		}
		return scalar
	},
}

// The shapes of CBOR are the major types of RFC 8949, section 3.1, which the first
// three bits hold, and the simple values of section 3.3.
var cborFormat = format{
	marshal:   cbor.Marshal,
	unmarshal: cbor.Unmarshal,
	shape: func(first byte) shape {
		switch {
		case first>>5 == 5:
			return object
		case first>>5 == 4:
			return array
		case first == 0xf4:
			return falsehood
		case first == 0xf5:
			return truth
		}
		return scalar
	},
}

// schema decodes an object.
func (f format) schema(data []byte) (*JSONSchemaProps, error) {
	schema := &JSONSchemaProps{}
	if err := f.unmarshal(data, schema); err != nil {
		return nil, err
	}
	return schema, nil
}

// MarshalJSON returns the schema, or the boolean if there is no schema.
func (s JSONSchemaPropsOrBool) MarshalJSON() ([]byte, error) { return json.Marshal(s.value()) }

// MarshalCBOR returns what MarshalJSON returns, in CBOR.
func (s JSONSchemaPropsOrBool) MarshalCBOR() ([]byte, error) { return cbor.Marshal(s.value()) }

// UnmarshalJSON accepts an object, true or false.
func (s *JSONSchemaPropsOrBool) UnmarshalJSON(data []byte) error { return s.decode(data, jsonFormat) }

// UnmarshalCBOR accepts what UnmarshalJSON accepts, in CBOR.
func (s *JSONSchemaPropsOrBool) UnmarshalCBOR(data []byte) error { return s.decode(data, cborFormat) }

func (s JSONSchemaPropsOrBool) value() any {
	if s.Schema != nil {
		return s.Schema
	}
	return s.Allows
}

func (s *JSONSchemaPropsOrBool) decode(data []byte, f format) (err error) {
	var decoded JSONSchemaPropsOrBool
	if len(data) > 0 {
		switch f.shape(data[0]) {
		case object:
			decoded.Allows = true
			decoded.Schema, err = f.schema(data)
		case truth:
			decoded.Allows = true
		case falsehood:
		default:
			err = errors.New("boolean or JSON schema expected")
		}
	}
	if err == nil {
		*s = decoded
	}
	return err
}

// MarshalJSON returns the list of schemas, or the schema if the list is empty.
func (s JSONSchemaPropsOrArray) MarshalJSON() ([]byte, error) { return json.Marshal(s.value()) }

// MarshalCBOR returns what MarshalJSON returns, in CBOR.
func (s JSONSchemaPropsOrArray) MarshalCBOR() ([]byte, error) { return cbor.Marshal(s.value()) }

// UnmarshalJSON decodes an object or a list. Other values leave s empty, as in
// Kubernetes.
func (s *JSONSchemaPropsOrArray) UnmarshalJSON(data []byte) error { return s.decode(data, jsonFormat) }

// UnmarshalCBOR does the same for CBOR.
func (s *JSONSchemaPropsOrArray) UnmarshalCBOR(data []byte) error { return s.decode(data, cborFormat) }

func (s JSONSchemaPropsOrArray) value() any {
	if len(s.JSONSchemas) > 0 {
		return s.JSONSchemas
	}
	return s.Schema
}

func (s *JSONSchemaPropsOrArray) decode(data []byte, f format) (err error) {
	var decoded JSONSchemaPropsOrArray
	if len(data) > 0 {
		switch f.shape(data[0]) {
		case object:
			decoded.Schema, err = f.schema(data)
		case array:
			err = f.unmarshal(data, &decoded.JSONSchemas)
		}
	}
	if err == nil {
		*s = decoded
	}
	return err
}

// MarshalJSON returns the names of fields, or the schema if there are none.
func (s JSONSchemaPropsOrStringArray) MarshalJSON() ([]byte, error) { return json.Marshal(s.value()) }

// MarshalCBOR returns what MarshalJSON returns, in CBOR.
func (s JSONSchemaPropsOrStringArray) MarshalCBOR() ([]byte, error) { return cbor.Marshal(s.value()) }

// UnmarshalJSON decodes an object or a list. Other values leave s empty, as in
// Kubernetes.
func (s *JSONSchemaPropsOrStringArray) UnmarshalJSON(data []byte) error {
	return s.decode(data, jsonFormat)
}

// UnmarshalCBOR does the same for CBOR.
func (s *JSONSchemaPropsOrStringArray) UnmarshalCBOR(data []byte) error {
	return s.decode(data, cborFormat)
}

func (s JSONSchemaPropsOrStringArray) value() any {
	if len(s.Property) > 0 {
		return s.Property
	}
	return s.Schema
}

func (s *JSONSchemaPropsOrStringArray) decode(data []byte, f format) (err error) {
	var decoded JSONSchemaPropsOrStringArray
	if len(data) > 0 {
		switch f.shape(data[0]) {
		case object:
			decoded.Schema, err = f.schema(data)
		case array:
			err = f.unmarshal(data, &decoded.Property)
		}
	}
	if err == nil {
		*s = decoded
	}
	return err
}

// MarshalJSON returns Raw.
func (s JSON) MarshalJSON() ([]byte, error) {
	if len(s.Raw) == 0 {
		return []byte("null"), nil
	}
	return s.Raw, nil
}

// UnmarshalJSON copies data to Raw. A null leaves s unchanged, as in Kubernetes.
func (s *JSON) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && !bytes.Equal(data, []byte("null")) {
		s.Raw = bytes.Clone(data)
	}
	return nil
}

// MarshalCBOR encodes the value of Raw. White space and the order of keys are lost.
func (s JSON) MarshalCBOR() ([]byte, error) {
	var value any
	if len(s.Raw) > 0 {
		if err := json.Unmarshal(s.Raw, &value); err != nil {
			return nil, err
		}
	}
	return cbor.Marshal(value)
}

// UnmarshalCBOR sets Raw to the JSON of the value. A null leaves s unchanged, as in
// Kubernetes.
func (s *JSON) UnmarshalCBOR(data []byte) error {
	var value any
	if len(data) > 0 {
		if err := cbor.Unmarshal(data, &value); err != nil {
			return err
		}
	}
	if value == nil {
		return nil
	}
	raw, err := json.Marshal(value)
	if err == nil {
		s.Raw = raw
	}
	return err
}
