// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateValidatingAdmissionPolicyStatus returns the errors in the status of a policy: its type
// checking warnings, conditions and observed custom resources. No field of a status is immutable.
func ValidateValidatingAdmissionPolicyStatus(status *v1.ValidatingAdmissionPolicyStatus) field.ErrorList {
	return checkStatus(*status)
}

// ValidateMutatingAdmissionPolicyStatus is ValidateValidatingAdmissionPolicyStatus for mutating
// policies.
func ValidateMutatingAdmissionPolicyStatus(status *v1.MutatingAdmissionPolicyStatus) field.ErrorList {
	return checkStatus(v1.ValidatingAdmissionPolicyStatus(*status))
}

func checkStatus(status v1.ValidatingAdmissionPolicyStatus) field.ErrorList {
	path := field.NewPath("status")
	return distinct(slices.Concat(
		optional(path.Child("typeChecking"), status.TypeChecking, checkTypeChecking),
		metav1validation.ValidateConditions(status.Conditions, path.Child("conditions")),
		checkCustomResources(path.Child("observedCustomResources"), status.ObservedCustomResources),
	))
}

func checkTypeChecking(path *field.Path, checking *v1.TypeChecking) field.ErrorList {
	return each(path.Child("expressionWarnings"), checking.ExpressionWarnings, checkExpressionWarning)
}

func checkExpressionWarning(path *field.Path, warning *v1.ExpressionWarning) field.ErrorList {
	return slices.Concat(
		notEmpty(path.Child("warning"), &warning.Warning),
		checkFieldRef(path.Child("fieldRef"), strings.TrimSpace(warning.FieldRef)),
	)
}

// checkFieldRef checks the syntax of a JSONPath. The fields need not exist, because another version
// of the server may know fields that this version does not.
func checkFieldRef(path *field.Path, ref string) field.ErrorList {
	if ref == "" {
		return missing(path, "")
	}
	if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
		return invalid(path, ref, "invalid JSONPath: "+err.Error())
	}
	return nil
}

func checkCustomResources(path *field.Path, resources []v1.ObservedCustomResource) field.ErrorList {
	unique := once[string]()
	return each(path, resources, func(path *field.Path, resource *v1.ObservedCustomResource) field.ErrorList {
		gvk := schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}.String()
		return slices.Concat(
			notEmpty(path.Child("group"), &resource.Group), // the core group has no custom resources
			notEmpty(path.Child("version"), &resource.Version),
			notEmpty(path.Child("kind"), &resource.Kind),
			genericvalidation.ValidateNonnegativeField(resource.Generation, path.Child("generation")),
			unique(path, &gvk),
		)
	})
}
