// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"slices"
	"strings"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withoutStoredCosts removes errors about the total cost of the validation rules in a schema that
// has not changed. When it was stored, the estimate may have been lower, and clients must be able
// to change labels, finalizers and other versions. Kubernetes treats the costs of single rules in
// this way.
func withoutStoredCosts(errs field.ErrorList, crd, old *upstream.CustomResourceDefinition) field.ErrorList {
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return isTotalCost(err) && hasStoredSchema(err.Field, crd, old)
	})
}

// isTotalCost reports whether an error is about the total cost, or about a rule that contributes to
// it.
func isTotalCost(err *field.Error) bool {
	return err.Type == field.ErrorTypeForbidden &&
		(strings.HasPrefix(err.Detail, "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of ") ||
			err.Detail == "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema")
}

// hasStoredSchema reports whether an error is about the schema of a version that has the same
// schema in old. path is the field of the error.
func hasStoredSchema(path string, crd, old *upstream.CustomResourceDefinition) bool {
	spec := field.NewPath("spec")
	// If all versions have the same schema, it is in spec.validation.
	if strings.HasPrefix(path, spec.Child("validation").String()+".") {
		return sameSchema(crd, old, crd.Spec.Version)
	}
	for i, version := range crd.Spec.Versions {
		if strings.HasPrefix(path, spec.Child("versions").Index(i).String()+".") {
			return sameSchema(crd, old, version.Name)
		}
	}
	return false
}

func sameSchema(crd, old *upstream.CustomResourceDefinition, version string) bool {
	schema, err := upstream.GetSchemaForVersion(crd, version)
	if err != nil {
		return false
	}
	stored, err := upstream.GetSchemaForVersion(old, version)
	return err == nil && apiequality.Semantic.DeepEqual(schema, stored)
}
