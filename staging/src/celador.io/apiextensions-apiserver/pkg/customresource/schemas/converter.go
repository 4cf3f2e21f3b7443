// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Converter returns a converter that converts with c and coerces the result with the schema of its
// version, because a conversion webhook may return fields that the schema does not specify.
func (s *Schemas) Converter(c runtime.ObjectConvertor) runtime.ObjectConvertor {
	return converter{c, s}
}

type converter struct {
	runtime.ObjectConvertor
	schemas *Schemas
}

func (c converter) Convert(in, out, context any) error {
	if err := c.ObjectConvertor.Convert(in, out, context); err != nil {
		return err
	}
	return c.coerce(out)
}

func (c converter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	out, err := c.ObjectConvertor.ConvertToVersion(in, gv)
	if err != nil {
		return nil, err
	}
	if err := c.coerce(out); err != nil {
		return nil, err
	}
	return out, nil
}

func (c converter) coerce(object any) error {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	_, err := c.schemas.Coerce(u, Coercion{})
	return err
}
