// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// validateDefaultRules returns an error for every x-kubernetes-default that is not stored yet, since the server does not
// evaluate default expressions so far. old is nil on create.
func validateDefaultRules(crd, old *apiextensions.CustomResourceDefinition) field.ErrorList {
	if !crd.Expressions.HasDefaults() {
		return nil
	}
	stored := &apiextensions.Expressions{}
	if old != nil && old.Expressions != nil {
		stored = old.Expressions
	}
	var errs field.ErrorList
	for i, version := range crd.Spec.Versions {
		defaults := crd.Expressions.Defaults[version.Name]
		root := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		for _, path := range slices.Sorted(maps.Keys(defaults)) {
			if !apiequality.Semantic.DeepEqual(defaults[path], stored.Defaults[version.Name][path]) {
				errs = append(errs, field.Forbidden(path.Field(root).Child("x-kubernetes-default"), "this server does not support default expressions yet; use default"))
			}
		}
	}
	return errs
}
