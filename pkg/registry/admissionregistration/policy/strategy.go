// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/admissionregistration/validation"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/admission/policyspec"
	"celador.io/apiserver/pkg/admission/policyvalidation"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// APIObject is a pointer to the internal type of a kind.
type APIObject interface {
	runtime.Object
	metav1.Object
}

// A descriptor declares how a kind of policies or bindings differs from the others, for Strategy
// and REST. T is a pointer to its internal type, and External a pointer to its v1 type.
type descriptor[T APIObject, Spec policyspec.Spec, External metav1.Object] struct {
	plural, singular string // names of the resource
	newObject        func() T
	newList          func() runtime.Object
	spec             func(T) *Spec
	// external converts an object to its v1 type. The two share memory, so neither may be changed.
	external func(T) External
	// keepStatus replaces the status of an object by the stored status. It is nil if the kind has
	// no status.
	keepStatus func(obj, stored T)
	table      rest.TableConvertor
}

// Resource returns the name of the resource.
func (k descriptor[T, Spec, External]) Resource() string { return k.plural }

// Strategy validates and prepares writes to objects of one kind, except for writes to their
// status. It implements rest.RESTCreateUpdateStrategy, rest.RESTDeleteStrategy and
// rest.ResetFieldsStrategy, and is safe for concurrent use.
type Strategy[T APIObject, Spec policyspec.Spec, External metav1.Object] struct {
	runtime.ObjectTyper
	names.NameGenerator
	kind      descriptor[T, Spec, External]
	validator policyvalidation.Validator[External]
}

func newStrategy[T APIObject, Spec policyspec.Spec, External metav1.Object](kind descriptor[T, Spec, External], validator policyvalidation.Validator[External]) Strategy[T, Spec, External] {
	return Strategy[T, Spec, External]{scheme.Scheme, names.SimpleNameGenerator, kind, validator}
}

// NamespaceScoped returns false.
func (Strategy[T, Spec, External]) NamespaceScoped() bool { return false }

// AllowCreateOnUpdate returns false: a PUT request never creates an object.
func (Strategy[T, Spec, External]) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns false: an update must name a resourceVersion.
func (Strategy[T, Spec, External]) AllowUnconditionalUpdate(context.Context) bool { return false }

// Canonicalize does nothing.
func (Strategy[T, Spec, External]) Canonicalize(runtime.Object) {}

// PrepareForCreate sets generation 1, clears the status and drops the fields whose feature gate
// is off.
func (s Strategy[T, Spec, External]) PrepareForCreate(_ context.Context, obj runtime.Object) {
	created := obj.(T)
	created.SetGeneration(1)
	s.prepare(created, s.kind.newObject())
}

// PrepareForUpdate keeps the stored status, drops the fields whose feature gate is off unless the
// stored object uses them, and increments the generation if the spec changes.
func (s Strategy[T, Spec, External]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	updated, stored := obj.(T), old.(T)
	s.prepare(updated, stored)
	if !equality.Semantic.DeepEqual(s.kind.spec(updated), s.kind.spec(stored)) {
		updated.SetGeneration(stored.GetGeneration() + 1)
	}
}

func (s Strategy[T, Spec, External]) prepare(obj, stored T) {
	if s.kind.keepStatus != nil {
		s.kind.keepStatus(obj, stored)
	}
	policyspec.DropDisabled(s.kind.spec(obj), s.kind.spec(stored), enabledFeatures())
}

// Validate returns the validation errors of a new object, and an error for each expression that
// needs a disabled feature, such as one that reads request.time. It rejects names that end in
// ".static.k8s.io" while the feature gate ManifestBasedAdmissionControlConfig is on, because they
// are reserved for manifest files. If the object is valid, Validate also checks whether the user
// may read the params, the types of expressions, and the policy of a binding; see
// policyvalidation.Validator.Check.
func (s Strategy[T, Spec, External]) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	created := s.kind.external(obj.(T))
	errs := append(s.validator.Validate(created), policyspec.DisabledExpressions(s.kind.spec(obj.(T)), enabledFeatures())...)
	if staticNamesReserved() {
		errs = append(errs, validation.ValidateStaticSuffix(created.GetName(), field.NewPath("metadata", "name"))...)
	}
	if len(errs) > 0 {
		return errs
	}
	return s.validator.Check(ctx, created, s.kind.external(s.kind.newObject()))
}

// ValidateUpdate returns the validation errors of an updated object, and an error for each
// expression that needs a disabled feature, unless the stored object uses the feature. Like
// Validate, it calls policyvalidation.Validator.Check only if the object is valid.
func (s Strategy[T, Spec, External]) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	updated, stored := s.kind.external(obj.(T)), s.kind.external(old.(T))
	errs := append(s.validator.ValidateUpdate(updated, stored),
		policyspec.DisabledExpressions(s.kind.spec(obj.(T)), policyspec.InUse(s.kind.spec(old.(T)), enabledFeatures()))...)
	if len(errs) > 0 {
		return errs
	}
	return s.validator.Check(ctx, updated, stored)
}

// WarningsOnCreate warns about a name that ends in ".static.k8s.io" if feature gate
// ManifestBasedAdmissionControlConfig is off: with the gate on, Validate rejects such names, which
// belong to manifest files. It also warns about type errors of a policy, and about a binding whose
// policy does not exist.
func (s Strategy[T, Spec, External]) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	var warnings []string
	if !staticNamesReserved() {
		warnings = validation.WarningsForStaticSuffix(obj.(T).GetName())
	}
	return append(warnings, s.validator.Warnings(ctx, s.kind.external(obj.(T)))...)
}

// WarningsOnUpdate warns about a name that ends in ".static.k8s.io", whether or not feature gate
// ManifestBasedAdmissionControlConfig is on. Unless the object is being deleted, it also returns
// the other warnings of WarningsOnCreate, and warns about a policy without a binding.
// WarningsOnCreate does not, because a policy is usually created before its binding.
func (s Strategy[T, Spec, External]) WarningsOnUpdate(ctx context.Context, obj, _ runtime.Object) []string {
	updated := s.kind.external(obj.(T))
	return append(validation.WarningsForStaticSuffix(updated.GetName()), s.validator.UpdateWarnings(ctx, updated)...)
}

// GetResetFields returns the fields that a write of the spec resets, by version of the API group.
func (s Strategy[T, Spec, External]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if s.kind.keepStatus == nil {
		return nil
	}
	return inEachVersion("status")
}

// inEachVersion returns the same set of top-level fields for every version of the API group.
func inEachVersion(fields ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet()
	for _, name := range fields {
		set.Insert(fieldpath.MakePathOrDie(name))
	}
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range scheme.Scheme.PrioritizedVersionsForGroup(admissionregistration.GroupName) {
		sets[fieldpath.APIVersion(version.String())] = set
	}
	return sets
}

func enabledFeatures() policyspec.Features {
	return policyspec.FeaturesOf(utilfeature.DefaultFeatureGate)
}

func staticNamesReserved() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.ManifestBasedAdmissionControlConfig)
}

// REST serves a resource of policies or bindings, except for the status subresource. It is safe
// for concurrent use.
type REST struct {
	*registry.Store
}

// Categories returns the categories by which kubectl finds the resource.
func (*REST) Categories() []string { return []string{"api-extensions"} }

// newREST returns the storage of a kind, which validates and prepares writes with the strategy. Its
// tables show the given column before the age.
func newREST[T APIObject, Spec policyspec.Spec, External metav1.Object](strategy Strategy[T, Spec, External], getter generic.RESTOptionsGetter, column lookupColumn[T]) (*REST, error) {
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return strategy.kind.newObject() },
		NewListFunc:               strategy.kind.newList,
		DefaultQualifiedResource:  admissionregistration.Resource(strategy.kind.plural),
		SingularQualifiedResource: admissionregistration.Resource(strategy.kind.singular),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		ResetFieldsStrategy:       strategy,
		TableConvertor:            lookupTable[T]{strategy.kind.table, column},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return nil, err
	}
	return &REST{store}, nil
}
