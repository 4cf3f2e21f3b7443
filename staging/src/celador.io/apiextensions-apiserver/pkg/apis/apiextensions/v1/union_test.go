// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"encoding/json"
	"fmt"
	"testing"

	v1 "celador.io/api/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Union types decode any value, valid or not, and encode it again as Kubernetes' types do, with the
// same errors. A value that is there before is replaced or kept in the same cases.
func TestUnions(t *testing.T) {
	values := []string{
		`null`, `true`, `false`, `""`, `"a"`, `"null"`, `"true"`, `0`, `-1`, `1.5`, `1e3`, `9007199254740993`,
		`{}`, `{"type":"string"}`, `{"TYPE":"string"}`, `{"type":1}`, `{"unknown":1}`, `{"$ref":"x"}`,
		`{"items":[]}`, `{"items":{}}`, `{"items":null}`, `{"b":1,"a":2}`, `{"b": 1 , "a" : [ 2 ]}`,
		`[]`, `[null]`, `[{}]`, `[{"type":"string"},{}]`, `[{"type":1}]`, `["a"]`, `["a","b"]`, `["a",1]`, `[1]`, `[[]]`, `[true]`,
	}
	schemas := []string{
		`{"default":%s}`, `{"example":%s}`, `{"enum":[%s]}`, `{"items":%s}`, `{"additionalProperties":%s}`, `{"additionalItems":%s}`,
		`{"dependencies":{"a":%s}}`, `{"not":%s}`, `{"properties":{"a":%s}}`, `{"anyOf":%s}`,
	}
	const before = `{"default":1,"example":[],"enum":[2],"items":{"type":"string"},"additionalProperties":false,"additionalItems":{},` +
		`"dependencies":{"a":["b"]},"not":{},"properties":{"a":{"type":"integer"}},"anyOf":[{}]}`
	for _, schema := range schemas {
		for _, value := range values {
			for _, before := range []string{`{}`, before} {
				text := fmt.Sprintf(schema, value)
				for name, format := range formats {
					if diff := cmp.Diff(format.outcome(t, text, before, &upstreamv1.JSONSchemaProps{}), format.outcome(t, text, before, &v1.JSONSchemaProps{})); diff != "" {
						t.Errorf("%s %s into %s (-Kubernetes +ours):\n%s", name, text, before, diff)
					}
				}
			}
		}
	}
}

// The methods handle an empty input like Kubernetes', although decoders do not call them with one.
func TestUnionsFromNothing(t *testing.T) {
	type union interface {
		json.Unmarshaler
		UnmarshalCBOR([]byte) error
	}
	for _, test := range []struct{ ours, theirs union }{
		{&v1.JSON{Raw: []byte("1")}, &upstreamv1.JSON{Raw: []byte("1")}},
		{&v1.JSONSchemaPropsOrBool{Allows: true}, &upstreamv1.JSONSchemaPropsOrBool{Allows: true}},
		{&v1.JSONSchemaPropsOrArray{JSONSchemas: []v1.JSONSchemaProps{{}}}, &upstreamv1.JSONSchemaPropsOrArray{JSONSchemas: []upstreamv1.JSONSchemaProps{{}}}},
		{&v1.JSONSchemaPropsOrStringArray{Property: []string{"a"}}, &upstreamv1.JSONSchemaPropsOrStringArray{Property: []string{"a"}}},
	} {
		for name, decode := range map[string]func(union) error{
			"JSON": func(into union) error { return into.UnmarshalJSON(nil) },
			"CBOR": func(into union) error { return into.UnmarshalCBOR(nil) },
		} {
			ours, theirs := decode(test.ours), decode(test.theirs)
			if ours != nil || theirs != nil {
				t.Errorf("%s of %T: got the error %v, Kubernetes %v", name, test.ours, ours, theirs)
			}
			own, err := json.Marshal(test.ours)
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(test.theirs)
			if err != nil {
				t.Fatal(err)
			}
			if string(own) != string(want) {
				t.Errorf("%s of %T: got %s, Kubernetes %s", name, test.ours, own, want)
			}
		}
	}
}

// A JSON value does not share memory with the decoder's input, which may be overwritten.
func TestJSONCopies(t *testing.T) {
	input := []byte(`{"a":1}`)
	var value v1.JSON
	if err := value.UnmarshalJSON(input); err != nil {
		t.Fatal(err)
	}
	copy(input, "xxxxxxx")
	if string(value.Raw) != `{"a":1}` {
		t.Errorf("value is %s after the input was overwritten", value.Raw)
	}
}

// A format encodes and decodes the text of a test case.
type format struct {
	// input encodes a JSON text.
	input     func(text string) ([]byte, error)
	unmarshal func([]byte, any) error
	marshal   func(any) ([]byte, error)
}

var formats = map[string]format{
	"encoding/json": {plain, json.Unmarshal, json.Marshal},
	"JSON":          {plain, func(data []byte, into any) error { return utiljson.Unmarshal(data, into) }, utiljson.Marshal},
	"CBOR": {func(text string) ([]byte, error) {
		var value any
		if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
			return nil, err
		}
		return cbor.Marshal(value)
	}, cbor.Unmarshal, cbor.Marshal},
}

func plain(text string) ([]byte, error) { return []byte(text), nil }

// outcome decodes two texts into the same target, one after the other, and describes the result.
func (f format) outcome(t *testing.T, text, before string, into any) (lines []string) {
	t.Helper()
	for _, text := range []string{before, text} {
		data, err := f.input(text)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(f.unmarshal(data, into)))
	}
	encoded, err := f.marshal(into)
	return append(lines, string(encoded), fmt.Sprint(err))
}
