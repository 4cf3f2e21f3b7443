// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/mutating"
	"celador.io/admission/typecheck"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// A TypeCheckResult holds the findings about the types of a policy's expressions.
type TypeCheckResult struct {
	// Warnings are the expressionWarnings in the status of the policy.
	Warnings []v1.ExpressionWarning
	// Verdict is the error that keeps the policy from deciding if its typeChecking is Enforced. Nil
	// if there is none.
	Verdict error
}

// CheckTypes checks the types of the expressions of a policy of the cluster, as the status
// controller of a server does. kind is MutatingKind or ValidatingKind. It returns a NotFound API
// error if there is no such policy.
func (c *Cluster) CheckTypes(kind, name string) (TypeCheckResult, error) {
	r, err := c.resourceOf(v1.SchemeGroupVersion.WithKind(kind))
	if err != nil {
		return TypeCheckResult{}, err
	}
	policy, err := get[runtime.Object](c, c.objects, r.GroupVersionResource, "", name)
	if err != nil {
		return TypeCheckResult{}, err
	}
	return c.checkTypes(policy)
}

// newChecker returns a checker that all clusters share. Each sets the types with With.
var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
})

// checkTypes checks the types of the expressions of a policy in version v1.
func (c *Cluster) checkTypes(policy runtime.Object) (TypeCheckResult, error) {
	checker, err := newChecker()
	if err != nil {
		return TypeCheckResult{}, err
	}
	checker = checker.With(served{c})
	var result *typecheck.Result
	var compileErrors []error
	switch p := policy.(type) {
	case *v1.ValidatingAdmissionPolicy:
		result, compileErrors = checker.CheckValidating(p), validating.NewEngine(validating.Config{Features: c.backend.Features()}).Errors(p)
	case *v1.MutatingAdmissionPolicy:
		result, compileErrors = checker.CheckMutating(p), mutating.NewEngine(mutating.Config{Config: validating.Config{Features: c.backend.Features()}}).Errors(p)
	default:
		return TypeCheckResult{}, fmt.Errorf("%T is not a policy", policy)
	}
	return TypeCheckResult{Warnings: result.StatusWarnings(), Verdict: typecheck.Verdict(typecheck.Lines(compileErrors), result.Err())}, nil
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
				return schemas.ForTypeChecks(custom.crd, v, s.cluster.objectMeta()), nil
			}
		}
	}
	return s.cluster.backend.ResolveSchema(kind)
}

// objectMeta returns the schema of metadata, or nil if it is not known.
func (b *Base) objectMeta() *spec.Schema {
	namespace, err := b.backend.ResolveSchema(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err != nil {
		return nil
	}
	metadata := namespace.Properties["metadata"]
	return &metadata
}
