// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// validateDefaultRules checks x-kubernetes-default, and returns warnings about rules that fail for
// some objects. old is nil on create. A version is not checked if its schema, rules and status
// subresource have not changed, because this server may check more than the one that stored them.
func validateDefaultRules(crd, old *apiextensions.CustomResourceDefinition) (errs field.ErrorList, warnings []string) {
	if !crd.Expressions.HasDefaults() {
		return nil, nil
	}
	for i, version := range crd.Spec.Versions {
		defaults := crd.Expressions.Defaults[version.Name]
		if len(defaults) == 0 {
			continue
		}
		path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		if preserve := crd.Spec.PreserveUnknownFields; preserve != nil && *preserve {
			errs = append(errs, field.Forbidden(path, "x-kubernetes-default needs spec.preserveUnknownFields: false"))
			continue
		}
		schema := structural(part(crd), version.Name)
		if schema == nil {
			continue
		}
		status := hasStatus(part(crd), version.Name)
		var stored apiextensions.SchemaDefaults
		if old != nil && old.Expressions.HasDefaults() {
			stored = old.Expressions.Defaults[version.Name]
			if apiequality.Semantic.DeepEqual(defaults, stored) && apiequality.Semantic.DeepEqual(schema, structural(part(old), version.Name)) && status == hasStatus(part(old), version.Name) {
				continue
			}
		}
		invalid, unguarded := defaulting.Validate(schema, defaults, stored, status, path)
		errs, warnings = append(errs, invalid...), append(warnings, unguarded...)
	}
	return errs, warnings
}

// hasStatus reports whether a version has a status subresource.
func hasStatus(crd *upstream.CustomResourceDefinition, version string) bool {
	subresources, err := upstream.GetSubresourcesForVersion(crd, version)
	return err == nil && subresources != nil && subresources.Status != nil
}
