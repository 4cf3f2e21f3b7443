// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"encoding/json"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shapes has fields of forms that Kubernetes types seldom or never use.
type shapes struct {
	embedded
	*EmbeddedPointer
	Named    embedded `json:"named"`
	Untagged string
	Skipped  string `json:"-"`

	I8     int8      `json:"i8"`
	U      uint      `json:"u,omitempty"`
	U8     uint8     `json:"u8,omitzero"`
	U64    *uint64   `json:"u64"`
	F32    float32   `json:"f32,omitempty"`
	F      namedF    `json:"f"`
	B      namedBool `json:"b"`
	S      namedText `json:"s,omitempty"`
	Bytes  []byte    `json:"bytes"`
	Named8 []named8  `json:"named8,omitempty"`
	OwnB   namedRaw  `json:"ownBytes"`

	Any       any              `json:"any"`
	Anys      []any            `json:"anys,omitempty"`
	AnyMap    map[string]any   `json:"anyMap"`
	Nested    [][]string       `json:"nested"`
	PP        **string         `json:"pp"`
	PList     *[]string        `json:"pList,omitempty"`
	Recursive *shapes          `json:"recursive,omitempty"`
	List      []shapes         `json:"list,omitempty"`
	Children  map[key]*shapes  `json:"children,omitempty"`
	Structs   map[key]embedded `json:"structs,omitempty"`
	IntKeys   map[int]string   `json:"intKeys,omitempty"`
	Texts     namedMap         `json:"texts"`

	Value   byValue              `json:"value"`
	Pointer byPointer            `json:"pointer,omitempty"`
	PValue  *byValue             `json:"pValue"`
	PP2     *byPointer           `json:"pPointer"`
	Mapped  map[string]byPointer `json:"mapped"`
	Listed  []byPointer          `json:"listed"`
	Fails   failing              `json:"fails,omitempty"`
	Slice   marshalledSlice      `json:"slice"`
	Raw     json.RawMessage      `json:"raw,omitempty"`
	Convert converted            `json:"convert,omitzero"`

	Zero    zeroer              `json:"zero,omitzero"`
	PZero   *zeroer             `json:"pZero,omitzero"`
	Struct  embedded            `json:"struct,omitempty"`
	StructZ embedded            `json:"structZ,omitzero"`
	Port    intstr.IntOrString  `json:"port"`
	PPort   *intstr.IntOrString `json:"pPort,omitempty"`
	Time    metav1.Time         `json:"time,omitempty"`
	Span    time.Duration       `json:"span"`
	MSpan   metav1.Duration     `json:"mspan"`
	Env     corev1.EnvVar       `json:"env"`
	Array   [2]int              `json:"array"`
	Complex complex64           `json:"complex"`
	Func    func()              `json:"func"`
}

type (
	embedded struct {
		A string `json:"a"`
		B *int32 `json:"b,omitempty"`
	}
	// EmbeddedPointer is exported because reflection cannot set unexported embedded pointers.
	EmbeddedPointer struct {
		C       string   `json:"c,omitempty"`
		D       []string `json:"d"`
		Skipped string   `json:"skipped"`
	}
	// unexportedField has a field that reflection cannot read.
	unexportedField struct {
		Shown  string
		hidden string
	}
	key       string
	namedF    float64
	namedBool bool
	namedText string
	named8    uint8
	namedRaw  []byte
	namedMap  map[string]string

	byValue         struct{ V string }
	byPointer       struct{ V string }
	failing         struct{ Fail string }
	marshalledSlice []string
	converted       struct{ V string }
	zeroer          struct {
		V int64 `json:"v"`
	}
)

func (b byValue) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]any{"is": b.V}) }

func (b *byPointer) MarshalJSON() ([]byte, error) { return json.Marshal([]any{b.V, 1, 1.5, nil}) }

func (f failing) MarshalJSON() ([]byte, error) { return nil, errors.New("failed on purpose") }

func (m marshalledSlice) MarshalJSON() ([]byte, error) { return json.Marshal(len(m)) }

func (converted) MarshalJSON() ([]byte, error) { return []byte(`"not used"`), nil }

func (c converted) ToUnstructured() any { return c.V }

func (z zeroer) IsZero() bool { return z.V == 1 }
