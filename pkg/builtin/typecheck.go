// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/mutating"
	"celador.io/admission/typecheck"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
})

// CheckTypes implements cluster.Types.
func (t *types) CheckTypes(policy runtime.Object, served typecheck.Types) (cluster.TypeCheck, error) {
	checker, err := newChecker()
	if err != nil {
		return cluster.TypeCheck{}, err
	}
	checker = checker.With(served)
	var result *typecheck.Result
	var compileErrors []error
	switch p := policy.(type) {
	case *v1.ValidatingAdmissionPolicy:
		result, compileErrors = checker.CheckValidating(p), validating.NewEngine(validating.Config{Features: t.Features()}).Errors(p)
	case *v1.MutatingAdmissionPolicy:
		result, compileErrors = checker.CheckMutating(p), mutating.NewEngine(mutating.Config{Features: t.Features()}).Errors(p)
	default:
		return cluster.TypeCheck{}, fmt.Errorf("%T is not a policy", policy)
	}
	return cluster.TypeCheck{
		Warnings: result.StatusWarnings(),
		Verdict:  typecheck.Verdict(typecheck.Lines(compileErrors), result.Err()),
	}, nil
}

// ResolveSchema implements cluster.Types.
func (*types) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return builtintypes.Schemas.ResolveSchema(kind)
}

// CustomSchema implements cluster.Types.
func (t *types) CustomSchema(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) *spec.Schema {
	return servedtypes.ResourceSchema(crd, version, objectMeta())
}

// objectMeta returns the schema of metadata.
var objectMeta = sync.OnceValue(func() *spec.Schema {
	namespace, err := builtintypes.Schemas.ResolveSchema(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err != nil {
		return nil
	}
	metadata := namespace.Properties["metadata"]
	return &metadata
})
