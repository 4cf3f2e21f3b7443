// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"errors"
	"fmt"
	"sync"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Types finds the types that policies name. A struct that embeds a meta.RESTMapper and a
// resolver.SchemaResolver implements it.
type Types interface {
	// KindsFor returns the kinds of a resource. The error wraps meta.NoResourceMatchError if the
	// resource is not served. With any other error, the resource is reported as Unavailable.
	KindsFor(schema.GroupVersionResource) ([]schema.GroupVersionKind, error)
	// RESTMapping returns an error that wraps meta.NoKindMatchError if the kind is not served. It
	// is called for a paramKind without a schema, to tell whether the kind exists; the mapping is
	// not used.
	RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error)
	// ResolveSchema returns the schema of a kind, which the checker only reads. The error wraps
	// resolver.ErrSchemaNotFound if there is none. ResolveSchema is called for each type of each
	// policy, so implementations should cache schemas.
	ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error)
}

// paramKindField is the field path of the paramKind.
const paramKindField = "spec.paramKind"

// constraintsField and lookupsField are the field paths of the match constraints and of the lookups.
var (
	constraintsField = field.NewPath("spec", "matchConstraints")
	lookupsField     = field.NewPath("spec", "lookups")
)

// resolvedType is a kind and its schema. Without a schema, values of the type are dynamic.
type resolvedType struct {
	kind   schema.GroupVersionKind
	schema *spec.Schema
	// models returns the models in the schema, by name. It is nil without a schema.
	models func() map[string]*spec.Schema
}

func (c *Checker) resolve(kind schema.GroupVersionKind) (resolvedType, error) {
	s, err := c.types.ResolveSchema(kind)
	if err == nil && s == nil {
		err = fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
	}
	return resolvedType{kind, s, sync.OnceValue(func() map[string]*spec.Schema { return modelsIn(s) })}, err
}

// findParams returns the type of 'params', or nil if the policy has no paramKind. If the type
// cannot be resolved, it is dynamic and the result lists it as unchecked.
func (c *Checker) findParams(declared *v1.ParamKind, result *Result) *resolvedType {
	if declared == nil {
		return nil
	}
	found, err := c.findNamed(declared.APIVersion, declared.Kind)
	if err != nil {
		result.omit(Unchecked{Field: paramKindField, Kind: found.kind, Reason: reasonOf(err), Err: err})
		return &resolvedType{}
	}
	result.Params = found.kind
	return &found
}

// findLookups returns the types of the objects of lookups, by the names of the lookups. A type that
// cannot be resolved is dynamic, and the result lists it as unchecked.
func (c *Checker) findLookups(lookups []v1.Lookup, result *Result) map[string]resolvedType {
	found := make(map[string]resolvedType, len(lookups))
	for i := range lookups {
		resolved, err := c.findNamed(lookups[i].APIVersion, lookups[i].Kind)
		if err != nil {
			result.omit(Unchecked{Field: lookupsField.Index(i).String(), Kind: resolved.kind, Reason: reasonOf(err), Err: err})
			resolved.schema = nil
		}
		found[lookups[i].Name] = resolved
	}
	return found
}

// findNamed returns the type that a policy names by apiVersion and kind. With an error, it returns
// the kind if apiVersion can be parsed.
func (c *Checker) findNamed(apiVersion, name string) (found resolvedType, err error) {
	version, err := schema.ParseGroupVersion(apiVersion)
	kind := version.WithKind(name)
	if err != nil {
		kind = schema.GroupVersionKind{}
		err = fmt.Errorf("%w: %w", err, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: name}})
	} else if found, err = c.resolve(kind); errors.Is(err, resolver.ErrSchemaNotFound) {
		if _, notServed := c.types.RESTMapping(kind.GroupKind(), kind.Version); notServed != nil {
			err = notServed
		}
	}
	found.kind = kind
	return found, err
}

// wildcardKind stands for the types that a rule matches by "*".
var wildcardKind = schema.GroupVersionKind{Group: "*", Version: "*", Kind: "*"}

// metadataOnly returns a type with the fields that the objects of all types have (KEP-3488, "Type
// safety"), for rules with a "*". The schema of metadata is that of Namespace, which every cluster
// has. Without it, metadata may have any fields. If looking it up fails, for another reason than
// that there is none, metadataOnly adds Namespace to the unchecked types of result.
func (c *Checker) metadataOnly(result *Result) resolvedType {
	metadata := spec.Schema{}
	namespace, err := c.resolve(corev1.SchemeGroupVersion.WithKind("Namespace"))
	switch {
	case err == nil:
		metadata = namespace.schema.Properties["metadata"]
	case !errors.Is(err, resolver.ErrSchemaNotFound):
		result.omit(Unchecked{Field: constraintsField.String(), Kind: namespace.kind, Reason: reasonOf(err), Err: err})
	}
	return resolvedType{kind: wildcardKind, schema: &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": *spec.StringProperty(), "kind": *spec.StringProperty(), "metadata": metadata,
	}}}}
}

// reasonOf returns the reason for an error of Types.
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
