// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

func checkMutations(path *field.Path, mutations, stored []v1.Mutation, patchTypes []v1.PatchType, expressions expressionErrors) field.ErrorList {
	var types []*v1.PatchType
	var reinvocations []*v1.ReinvocationPolicyType
	var reasons []*metav1.StatusReason
	for i := range stored {
		types = append(types, &stored[i].PatchType)
		reinvocations = append(reinvocations, stored[i].ReinvocationPolicy)
		reasons = append(reasons, stored[i].Reason)
	}
	supported := oneOf(patchTypes...)
	known := unlessStored(supported.check, types...)
	return each(path, mutations, func(path *field.Path, m *v1.Mutation) field.ErrorList {
		return slices.Concat(
			checkPatch(path, m, supported, known, expressions),
			expressions.take(path.Child("condition")),
			optional(path.Child("message"), m.Message, checkOptionalMessage),
			optional(path.Child("reason"), m.Reason, unlessStored(knownReason.check, reasons...)),
			optional(path.Child("reinvocationPolicy"), m.ReinvocationPolicy, unlessStored(knownReinvocation.check, reinvocations...)),
		)
	})
}

// checkPatch checks that the mutation has exactly one expression that computes its patch.
func checkPatch(path *field.Path, m *v1.Mutation, supported enumeration[v1.PatchType], known check[v1.PatchType], expressions expressionErrors) field.ErrorList {
	patchType := path.Child("patchType")
	if m.Expression != nil {
		const alone = "must not be specified when there is an expression"
		return slices.Concat(
			expressions.take(path.Child("expression")),
			when(m.PatchType != "", field.Invalid(patchType, m.PatchType, alone)),
			checkOtherFields(path, m, "", alone),
		)
	}
	if m.PatchType == "" {
		return supported.missing(patchType)
	}
	unknown := known(patchType, &m.PatchType)
	var errs field.ErrorList
	for _, f := range policyspec.PatchFields(m) {
		body := path.Child(f.Name)
		compilation := expressions.take(body.Child("expression"))
		switch {
		case f.Type != m.PatchType:
			continue
		case f.Expression == nil:
			errs = missing(body, "must be specified when patchType is "+string(m.PatchType))
		default:
			errs = compilation
		}
		errs = append(errs, checkOtherFields(path, m, m.PatchType, "must not be specified when patchType is "+string(m.PatchType))...)
	}
	if len(unknown) > 0 {
		return unknown
	}
	return errs // nil for a stored patch type that this version does not know
}

// checkOtherFields returns an error for each field that belongs to another patch type.
func checkOtherFields(path *field.Path, m *v1.Mutation, patchType v1.PatchType, message string) field.ErrorList {
	var errs field.ErrorList
	for _, f := range policyspec.PatchFields(m) {
		if f.Type != patchType && f.Expression != nil {
			errs = append(errs, field.Invalid(path.Child(f.Name), "{"+f.Name+"}", message))
		}
	}
	return errs
}

func checkOptionalMessage(path *field.Path, message *string) field.ErrorList {
	if *message == "" {
		return invalid(path, *message, blank)
	}
	return checkMessage(path, *message)
}
