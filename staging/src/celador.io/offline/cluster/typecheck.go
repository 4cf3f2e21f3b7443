// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// A TypeCheck holds the findings about the types of a policy's expressions.
type TypeCheck struct {
	// Warnings are the expressionWarnings in the status of the policy.
	Warnings []v1.ExpressionWarning
	// Verdict is the error that keeps the policy from deciding if its typeChecking is Enforced. Nil if there is none.
	Verdict error
}

// CheckTypes checks the types of the expressions of a policy of the cluster, as the status controller of a server does. kind is
// MutatingKind or ValidatingKind. It returns a NotFound API error if there is no such policy.
func (c *Cluster) CheckTypes(kind, name string) (TypeCheck, error) {
	r, err := c.resourceOf(v1.SchemeGroupVersion.WithKind(kind))
	if err != nil {
		return TypeCheck{}, err
	}
	policy, err := get[runtime.Object](c, c.objects, r.GroupVersionResource, "", name)
	if err != nil {
		return TypeCheck{}, err
	}
	return c.types.CheckTypes(policy, served{c})
}

// served finds the types that a cluster serves.
type served struct{ cluster *Cluster }

var _ typecheck.Types = served{}

// KindsFor implements typecheck.Types.
func (s served) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	r, err := s.cluster.resource(resource, "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &meta.NoResourceMatchError{PartialResource: resource}, err)
	}
	return []schema.GroupVersionKind{r.kind}, nil
}

// RESTMapping implements typecheck.Types.
func (s served) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	for _, version := range versions {
		if r, err := s.cluster.resourceOf(kind.WithVersion(version)); err == nil {
			return &meta.RESTMapping{Resource: r.GroupVersionResource, GroupVersionKind: r.kind}, nil
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}

// ResolveSchema implements typecheck.Types.
func (s served) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	for _, custom := range s.cluster.customResources {
		if !custom.serves(kind.GroupKind()) {
			continue
		}
		for i := range custom.crd.Spec.Versions {
			if v := &custom.crd.Spec.Versions[i]; v.Name == kind.Version && v.Served {
				return s.cluster.types.CustomSchema(custom.crd, v), nil
			}
		}
	}
	return s.cluster.types.ResolveSchema(kind)
}
