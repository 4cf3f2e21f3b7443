// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Decoder returns a decoder that decodes with d and coerces the result. With c.ReportUnknownFields,
// it returns the object together with a strict decoding error, which has the errors of d and one
// for each unknown field. Otherwise it drops strict decoding errors.
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
			// %q would escape the path, which clients see in the error.
			strict = append(strict, fmt.Errorf("unknown field \"%s\"", path))
		}
	}
	if d.coercion.ReportUnknownFields && len(strict) > 0 {
		return object, gvk, runtime.NewStrictDecodingError(strict)
	}
	return object, gvk, nil
}
