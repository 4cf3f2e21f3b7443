// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"errors"

	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/json"

	"celador.io/api/apiextensions/v1/internal/union"
)

// MarshalJSON returns the schema, or the boolean if there is no schema.
func (s JSONSchemaPropsOrBool) MarshalJSON() ([]byte, error) { return json.Marshal(s.value()) }

// MarshalCBOR returns what MarshalJSON returns, in CBOR.
func (s JSONSchemaPropsOrBool) MarshalCBOR() ([]byte, error) { return cbor.Marshal(s.value()) }

// UnmarshalJSON accepts an object, true or false.
func (s *JSONSchemaPropsOrBool) UnmarshalJSON(data []byte) error { return s.decode(data, union.JSON) }

// UnmarshalCBOR accepts what UnmarshalJSON accepts, in CBOR.
func (s *JSONSchemaPropsOrBool) UnmarshalCBOR(data []byte) error { return s.decode(data, union.CBOR) }

func (s JSONSchemaPropsOrBool) value() any {
	if s.Schema != nil {
		return s.Schema
	}
	return s.Allows
}

func (s *JSONSchemaPropsOrBool) decode(data []byte, format union.Format) (err error) {
	var decoded JSONSchemaPropsOrBool
	switch format.Shape(data) {
	case union.Object:
		decoded = JSONSchemaPropsOrBool{Allows: true, Schema: &JSONSchemaProps{}}
		err = format.Unmarshal(data, decoded.Schema)
	case union.True:
		decoded.Allows = true
	case union.False:
	default:
		if len(data) > 0 {
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
func (s *JSONSchemaPropsOrArray) UnmarshalJSON(data []byte) error { return s.decode(data, union.JSON) }

// UnmarshalCBOR does the same for CBOR.
func (s *JSONSchemaPropsOrArray) UnmarshalCBOR(data []byte) error { return s.decode(data, union.CBOR) }

func (s JSONSchemaPropsOrArray) value() any {
	if len(s.JSONSchemas) > 0 {
		return s.JSONSchemas
	}
	return s.Schema
}

func (s *JSONSchemaPropsOrArray) decode(data []byte, format union.Format) (err error) {
	var decoded JSONSchemaPropsOrArray
	switch format.Shape(data) {
	case union.Object:
		decoded.Schema = &JSONSchemaProps{}
		err = format.Unmarshal(data, decoded.Schema)
	case union.Array:
		err = format.Unmarshal(data, &decoded.JSONSchemas)
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
	return s.decode(data, union.JSON)
}

// UnmarshalCBOR does the same for CBOR.
func (s *JSONSchemaPropsOrStringArray) UnmarshalCBOR(data []byte) error {
	return s.decode(data, union.CBOR)
}

func (s JSONSchemaPropsOrStringArray) value() any {
	if len(s.Property) > 0 {
		return s.Property
	}
	return s.Schema
}

func (s *JSONSchemaPropsOrStringArray) decode(data []byte, format union.Format) (err error) {
	var decoded JSONSchemaPropsOrStringArray
	switch format.Shape(data) {
	case union.Object:
		decoded.Schema = &JSONSchemaProps{}
		err = format.Unmarshal(data, decoded.Schema)
	case union.Array:
		err = format.Unmarshal(data, &decoded.Property)
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
