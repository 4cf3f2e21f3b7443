// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Decoder returns a decoder that coerces the custom resources that another one decodes. If unknown
// fields are reported, they join the strict decoding errors of that decoder.
func (s *Schemas) Decoder(d runtime.Decoder, c Coercion) runtime.Decoder {
	return decoder{d, s, c}
}

type decoder struct {
	runtime.Decoder
	schemas  *Schemas
	coercion Coercion
}

func (d decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, gvk, err := d.Decoder.Decode(data, defaults, into)
	var strict []error
	if err != nil {
		// Strict errors come with an object.
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok || object == nil {
			return nil, gvk, err
		}
		strict = strictErr.Errors()
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		unknown, err := d.schemas.Coerce(u, d.coercion)
		if err != nil {
			return nil, gvk, err
		}
		for _, path := range unknown {
			// Clients see the path as it is, so it must not be escaped.
			strict = append(strict, fmt.Errorf("unknown field \"%s\"", path))
		}
	}
	if d.coercion.ReportUnknownFields && len(strict) > 0 {
		return object, gvk, runtime.NewStrictDecodingError(strict)
	}
	return object, gvk, nil
}
