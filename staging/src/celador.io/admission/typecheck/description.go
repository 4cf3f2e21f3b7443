// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// paramKindField is the part of a policy that names the type of its parameters.
const paramKindField = "spec.paramKind"

// description is a kind and its schema. Without a schema, nothing is known of the type.
type description struct {
	kind   schema.GroupVersionKind
	schema *spec.Schema
}

func (c *Checker) describe(kind schema.GroupVersionKind) (description, error) {
	s, err := c.schemas.ResolveSchema(kind)
	if err == nil && s == nil {
		err = fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
	}
	return description{kind, s}, err
}

// findParams returns nil when the policy has no parameters.
func (c *Checker) findParams(declared *v1.ParamKind, result *Result) *description {
	if declared == nil {
		return nil
	}
	var found description
	version, err := schema.ParseGroupVersion(declared.APIVersion)
	kind := version.WithKind(declared.Kind)
	if err != nil {
		kind = schema.GroupVersionKind{}
		err = fmt.Errorf("%w: %w", err, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: declared.Kind}})
	} else if found, err = c.describe(kind); errors.Is(err, resolver.ErrSchemaNotFound) {
		if _, unknown := c.mapper.RESTMapping(kind.GroupKind(), kind.Version); unknown != nil {
			err = unknown
		}
	}
	if err != nil {
		result.omit(Unchecked{Field: paramKindField, Kind: kind, Reason: reasonOf(err), Err: err})
		return &description{}
	}
	result.Params = kind
	return &found
}

// reasonOf returns the reason that an error of the mapper or the resolver stands for.
func reasonOf(err error) Reason {
	var noResource *meta.NoResourceMatchError
	var noKind *meta.NoKindMatchError
	switch {
	case errors.As(err, &noResource):
		return UnknownResource
	case errors.As(err, &noKind):
		return UnknownKind
	case errors.Is(err, resolver.ErrSchemaNotFound):
		return NoSchema
	default:
		return Unavailable
	}
}
