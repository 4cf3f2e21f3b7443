// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"fmt"
	"maps"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Spec is a type constraint: the spec of a policy or binding.
type Spec interface {
	v1.ValidatingAdmissionPolicySpec | v1.MutatingAdmissionPolicySpec |
		v1.ValidatingAdmissionPolicyBindingSpec | v1.MutatingAdmissionPolicyBindingSpec
}

// gatedField is a field that needs a feature, of a spec or of an item in one of its lists. clear
// removes its value from the spec.
type gatedField struct {
	feature Feature
	path    *field.Path
	isSet   bool
	clear   func()
}

func gated[T any](feature Feature, path *field.Path, value **T) gatedField {
	return gatedField{feature, path, *value != nil, func() { *value = nil }}
}

func gatedList[T any](feature Feature, path *field.Path, list *[]T) gatedField {
	return gatedField{feature, path, len(*list) > 0, func() { *list = nil }}
}

// gatedFields returns the fields of a spec that need a feature, set or not. spec is a pointer to
// one of the types of Spec.
func gatedFields(spec any) []gatedField {
	var fields []gatedField
	switch spec := spec.(type) {
	case *v1.ValidatingAdmissionPolicySpec:
		fields = append(fields,
			gated(Singleton, specPath.Child("policyType"), &spec.PolicyType),
			gated(TypeEnforcement, specPath.Child("typeChecking"), &spec.TypeChecking),
			gatedList(Lookups, specPath.Child("lookups"), &spec.Lookups))
		for i := range spec.Validations {
			path := specPath.Child("validations").Index(i)
			fields = append(fields,
				gated(ValidationFailurePolicy, path.Child("failurePolicy"), &spec.Validations[i].FailurePolicy),
				gated(ExpressionScopes, path.Child("scope"), &spec.Validations[i].Scope),
				gated(Causes, path.Child("fieldPath"), &spec.Validations[i].FieldPath))
		}
	case *v1.MutatingAdmissionPolicySpec:
		fields = append(fields,
			gated(MutatingSingleton, specPath.Child("policyType"), &spec.PolicyType),
			gated(TypeEnforcement, specPath.Child("typeChecking"), &spec.TypeChecking),
			gatedList(Lookups, specPath.Child("lookups"), &spec.Lookups))
		for i := range spec.Mutations {
			m, path := &spec.Mutations[i], specPath.Child("mutations").Index(i)
			fields = append(fields,
				gated(InlineExpressions, path.Child("expression"), &m.Expression),
				gated(InlineExpressions, path.Child("condition"), &m.Condition),
				gated(InlineExpressions, path.Child("message"), &m.Message),
				gated(InlineExpressions, path.Child("reason"), &m.Reason),
				gated(InlineExpressions, path.Child("reinvocationPolicy"), &m.ReinvocationPolicy),
				gated(InlineExpressions, path.Child("jsonMergePatch"), &m.JSONMergePatch),
				gated(InlineExpressions, path.Child("strategicMergePatch"), &m.StrategicMergePatch))
		}
	case *v1.ValidatingAdmissionPolicyBindingSpec:
		fields = append(fields, gated(FallbackBinding, specPath.Child("bindingType"), &spec.BindingType))
	case *v1.MutatingAdmissionPolicyBindingSpec:
		fields = append(fields, gated(MutatingFallbackBinding, specPath.Child("bindingType"), &spec.BindingType))
	}
	return fields
}

// gatedExpressions returns the expressions of a policy that read request.time, and therefore need
// the feature RequestTime. It returns nil for a binding. spec is a pointer to one of the types of
// Spec.
func gatedExpressions(spec any) []*Expression {
	var policy *Anatomy
	switch spec := spec.(type) {
	case *v1.ValidatingAdmissionPolicySpec:
		policy = Validating(spec)
	case *v1.MutatingAdmissionPolicySpec:
		policy = Mutating(spec)
	default:
		return nil
	}
	return requestTimeReads(policy)
}

// InUse returns the enabled features and those that the stored spec uses, in a field or in an
// expression. They are the features that an update of the spec may use.
func InUse[S Spec](stored *S, features Features) Features {
	used := Features{}
	maps.Copy(used, features)
	for _, f := range gatedFields(stored) {
		if f.isSet {
			used[f.feature] = true
		}
	}
	if !used[RequestTime] && len(gatedExpressions(stored)) > 0 {
		used[RequestTime] = true
	}
	return used
}

// DropDisabled clears the fields of spec whose feature is disabled, unless the stored spec uses
// the feature: an update must not lose what was written while the feature was enabled. On create
// the stored spec is empty. Expressions that need a feature stay: see DisabledExpressions.
func DropDisabled[S Spec](spec, stored *S, features Features) {
	features = InUse(stored, features)
	for _, f := range gatedFields(spec) {
		if !features[f.feature] {
			f.clear()
		}
	}
}

// Disabled returns an error for each field of spec that is set and whose feature is disabled, and
// the errors of DisabledExpressions. A manifest file with such a field is rejected, because its
// author would not notice a dropped field.
func Disabled[S Spec](spec *S, features Features) field.ErrorList {
	return append(DisabledFields(spec, features), DisabledExpressions(spec, features)...)
}

// DisabledFields returns an error for each field of spec that DropDisabled clears for a new object.
func DisabledFields[S Spec](spec *S, features Features) field.ErrorList {
	var errs field.ErrorList
	for _, f := range gatedFields(spec) {
		if f.isSet && !features[f.feature] {
			errs = append(errs, field.Forbidden(f.path, fmt.Sprintf("requires the %s feature gate to be enabled", f.feature)))
		}
	}
	return errs
}

// DisabledExpressions returns an error for each expression of spec that needs a disabled feature.
// The API rejects a policy with such an expression, because there is no field that it could drop.
func DisabledExpressions[S Spec](spec *S, features Features) field.ErrorList {
	if features[RequestTime] {
		return nil
	}
	var errs field.ErrorList
	for _, e := range gatedExpressions(spec) {
		errs = append(errs, field.Invalid(e.Path, e.Source, fmt.Sprintf("request.time requires the %s feature gate to be enabled", RequestTime)))
	}
	return errs
}

// Effective returns the object without the fields whose feature is disabled. It returns the
// object itself if it has no such field, and otherwise a copy. spec returns the spec of an
// object.
func Effective[O interface{ DeepCopy() O }, S Spec](object O, spec func(O) *S, features Features) O {
	if len(DisabledFields(spec(object), features)) == 0 {
		return object
	}
	object = object.DeepCopy()
	DropDisabled(spec(object), new(S), features)
	return object
}
