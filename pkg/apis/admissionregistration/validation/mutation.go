// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// StockPatchTypes returns the patch types that Kubernetes has.
func StockPatchTypes() []v1.PatchType {
	return []v1.PatchType{v1.PatchTypeApplyConfiguration, v1.PatchTypeJSONPatch}
}

// AllPatchTypes returns all patch types, those of feature gate
// MutatingAdmissionPolicyInlineExpressions among them.
func AllPatchTypes() []v1.PatchType {
	return []v1.PatchType{v1.PatchTypeApplyConfiguration, v1.PatchTypeJSONMergePatch, v1.PatchTypeJSONPatch, v1.PatchTypeStrategicMergePatch}
}

// form is a patch type with the field that belongs to it.
type form struct {
	patchType v1.PatchType
	field     string
	// expression is nil when the field is not set.
	expression *string
	gives      result
}

func formsOf(m *v1.Mutation) []form {
	forms := []form{
		{patchType: v1.PatchTypeApplyConfiguration, field: "applyConfiguration", gives: anObject},
		{patchType: v1.PatchTypeJSONPatch, field: "jsonPatch", gives: listOfPatches},
		{patchType: v1.PatchTypeJSONMergePatch, field: "jsonMergePatch", gives: mergePatch},
		{patchType: v1.PatchTypeStrategicMergePatch, field: "strategicMergePatch", gives: mergePatch},
	}
	if m.ApplyConfiguration != nil {
		forms[0].expression = &m.ApplyConfiguration.Expression
	}
	if m.JSONPatch != nil {
		forms[1].expression = &m.JSONPatch.Expression
	}
	if m.JSONMergePatch != nil {
		forms[2].expression = &m.JSONMergePatch.Expression
	}
	if m.StrategicMergePatch != nil {
		forms[3].expression = &m.StrategicMergePatch.Expression
	}
	return forms
}

func (s *scope) checkMutations(path *field.Path, mutations, stored []v1.Mutation, patchTypes []v1.PatchType) field.ErrorList {
	var types []*v1.PatchType
	var reinvocations []*v1.ReinvocationPolicyType
	var reasons []*metav1.StatusReason
	for i := range stored {
		types = append(types, &stored[i].PatchType)
		reinvocations = append(reinvocations, stored[i].ReinvocationPolicy)
		reasons = append(reasons, stored[i].Reason)
	}
	known := newly(oneOf(patchTypes...), types...)
	return each(path, mutations, func(path *field.Path, m *v1.Mutation) field.ErrorList {
		return slices.Concat(
			s.checkChange(path, m, known),
			optional(path.Child("condition"), m.Condition, s.checkCondition),
			optional(path.Child("message"), m.Message, checkOptionalMessage),
			optional(path.Child("reason"), m.Reason, newly(knownReason, reasons...)),
			optional(path.Child("reinvocationPolicy"), m.ReinvocationPolicy, newly(knownReinvocation, reinvocations...)),
		)
	})
}

// checkChange checks that the mutation says what to do, and in one way only.
func (s *scope) checkChange(path *field.Path, m *v1.Mutation, known check[v1.PatchType]) field.ErrorList {
	forms, patchType := formsOf(m), path.Child("patchType")
	if m.Expression != nil {
		const alone = "must not be specified when there is an expression"
		return slices.Concat(
			s.checkMutating(path.Child("expression"), *m.Expression, inline),
			when(m.PatchType != "", field.Invalid(patchType, m.PatchType, alone)),
			others(path, forms, "", alone),
		)
	}
	if m.PatchType == "" {
		return missing(patchType, "")
	}
	if errs := known(patchType, &m.PatchType); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for _, f := range forms {
		switch body := path.Child(f.field); {
		case f.patchType != m.PatchType:
			continue
		case f.expression == nil:
			errs = missing(body, "must be specified when patchType is "+string(m.PatchType))
		default:
			errs = s.checkMutating(body.Child("expression"), *f.expression, f.gives)
		}
		errs = append(errs, others(path, forms, m.PatchType, "must not be specified when patchType is "+string(m.PatchType))...)
	}
	return errs // none for a type that a later version of the server has stored
}

// others complains about fields that belong to another patch type.
func others(path *field.Path, forms []form, patchType v1.PatchType, complaint string) field.ErrorList {
	var errs field.ErrorList
	for _, f := range forms {
		if f.patchType != patchType && f.expression != nil {
			errs = append(errs, field.Invalid(path.Child(f.field), "{"+f.field+"}", complaint))
		}
	}
	return errs
}

// checkMutating compiles the expression without surrounding space, with the types of
// mutations in scope.
func (s *scope) checkMutating(path *field.Path, source string, gives result) field.ErrorList {
	trimmed := strings.TrimSpace(source)
	if trimmed == "" {
		return missing(path, "")
	}
	in := s.declarations()
	in.Patches = true
	program, err := s.composed.Compile(trimmed, in, s.origin(source), gives.types...)
	if err != nil {
		return compileError(path, trimmed, err)
	}
	return invalid(path, trimmed, gives.complaints(program.OutputType())...)
}

// checkCondition compiles the expression without surrounding space.
func (s *scope) checkCondition(path *field.Path, source *string) field.ErrorList {
	trimmed := strings.TrimSpace(*source)
	if trimmed == "" {
		return missing(path, "")
	}
	_, err := s.composed.Compile(trimmed, s.declarations(), s.origin(*source), cel.BoolType)
	return compileError(path, trimmed, err)
}

func checkOptionalMessage(path *field.Path, message *string) field.ErrorList {
	if *message == "" {
		return invalid(path, *message, blank)
	}
	return checkMessage(path, *message)
}
