// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"reflect"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/names"

	"celador.io/admission/defaults"
	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
)

// A resource describes a resource that the backend serves, in version v1 of its group. object and
// list are empty values of the Go types of its objects and lists.
type resource struct {
	name         string
	namespaced   bool
	object, list runtime.Object
}

// served are the resources by the names of their groups.
var served = map[string][]resource{
	corev1.GroupName: {
		{"configmaps", true, &corev1.ConfigMap{}, &corev1.ConfigMapList{}},
		{"namespaces", false, &corev1.Namespace{}, &corev1.NamespaceList{}},
		{"pods", true, &corev1.Pod{}, &corev1.PodList{}},
		{"secrets", true, &corev1.Secret{}, &corev1.SecretList{}},
		{"services", true, &corev1.Service{}, &corev1.ServiceList{}},
	},
	// Clusters open this group whenever they open the core group, because both serve events.
	eventsv1.GroupName: {{"events", true, &eventsv1.Event{}, &eventsv1.EventList{}}},
	appsv1.GroupName:   {{"deployments", true, &appsv1.Deployment{}, &appsv1.DeploymentList{}}},
	v1.GroupName: {
		{"validatingadmissionpolicies", false, &v1.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicyList{}},
		{"validatingadmissionpolicybindings", false, &v1.ValidatingAdmissionPolicyBinding{}, &v1.ValidatingAdmissionPolicyBindingList{}},
		{"mutatingadmissionpolicies", false, &v1.MutatingAdmissionPolicy{}, &v1.MutatingAdmissionPolicyList{}},
		{"mutatingadmissionpolicybindings", false, &v1.MutatingAdmissionPolicyBinding{}, &v1.MutatingAdmissionPolicyBindingList{}},
		{"validatingwebhookconfigurations", false, &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{}},
		{"mutatingwebhookconfigurations", false, &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfigurationList{}},
	},
}

// newScheme returns the scheme of all resources. It has the types of v1 as the internal version,
// too, so nothing needs converting.
var newScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for group, resources := range served {
		version := schema.GroupVersion{Group: group, Version: "v1"}
		for _, r := range resources {
			scheme.AddKnownTypes(version, r.object, r.list)
			scheme.AddKnownTypes(schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}, r.object, r.list)
		}
		metav1.AddToGroupVersion(scheme, version)
		utilruntime.Must(scheme.SetVersionPriority(version))
	}
	utilruntime.Must(defaults.RegisterDefaults(scheme))
	scheme.AddTypeDefaultingFunc(&appsv1.Deployment{}, func(object any) {
		if d := object.(*appsv1.Deployment); d.Spec.Replicas == nil {
			d.Spec.Replicas = new(int32(1))
		}
	})
	scheme.AddTypeDefaultingFunc(&corev1.Service{}, func(object any) {
		if s := object.(*corev1.Service); s.Spec.Type == "" {
			s.Spec.Type = corev1.ServiceTypeClusterIP
		}
	})
	return scheme
})

// groups has the groups of the backend.
type groups struct{}

// Group implements cluster.Backend.
func (groups) Group(name string, options cluster.GroupOptions) (*genericapiserver.APIGroupInfo, error) {
	resources := served[name]
	if resources == nil {
		return nil, nil
	}
	scheme := newScheme()
	group := genericapiserver.NewDefaultAPIGroupInfo(name, scheme, runtime.NewParameterCodec(scheme), serializer.NewCodecFactory(scheme))
	storage := map[string]rest.Storage{}
	for _, r := range resources {
		store, err := r.store(scheme, schema.GroupResource{Group: name, Resource: r.name}, options.RESTOptions)
		if err != nil {
			return nil, err
		}
		storage[r.name] = store
	}
	group.VersionedResourcesStorageMap["v1"] = storage
	return &group, nil
}

func (r *resource) store(scheme *runtime.Scheme, name schema.GroupResource, getter generic.RESTOptionsGetter) (*registry.Store, error) {
	s := strategy{scheme, names.SimpleNameGenerator, r.namespaced}
	store := &registry.Store{
		NewFunc: newLike(r.object), NewListFunc: newLike(r.list), DefaultQualifiedResource: name, SingularQualifiedResource: name,
		CreateStrategy: s, UpdateStrategy: s, DeleteStrategy: s, TableConvertor: rest.NewDefaultTableConvertor(name),
	}
	return store, store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter})
}

// newLike returns a function that returns new objects of the type of another one.
func newLike(object runtime.Object) func() runtime.Object {
	return func() runtime.Object {
		return reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
	}
}

// strategy validates and prepares the objects of all resources.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	namespaced bool
}

func (s strategy) NamespaceScoped() bool                                          { return s.namespaced }
func (strategy) AllowCreateOnUpdate(context.Context) bool                         { return false }
func (strategy) AllowUnconditionalUpdate(context.Context) bool                    { return true }
func (strategy) Canonicalize(runtime.Object)                                      {}
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string        { return nil }
func (strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string { return nil }
func (s strategy) PrepareForUpdate(ctx context.Context, object, _ runtime.Object) {
	s.PrepareForCreate(ctx, object)
}

// PrepareForCreate drops the fields whose feature gate is off.
func (strategy) PrepareForCreate(_ context.Context, object runtime.Object) {
	features := Backend.Features()
	switch o := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		policyspec.DropDisabled(&o.Spec, &v1.ValidatingAdmissionPolicySpec{}, features)
	case *v1.ValidatingAdmissionPolicyBinding:
		policyspec.DropDisabled(&o.Spec, &v1.ValidatingAdmissionPolicyBindingSpec{}, features)
	case *v1.MutatingAdmissionPolicy:
		policyspec.DropDisabled(&o.Spec, &v1.MutatingAdmissionPolicySpec{}, features)
	}
}

// Validate returns the errors of policies and bindings. Of other objects, it checks only the fields
// with which tests make them invalid.
func (strategy) Validate(_ context.Context, object runtime.Object) (errs field.ErrorList) {
	switch o := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		return append(validation.ValidateValidatingAdmissionPolicy(o), policyspec.DisabledExpressions(&o.Spec, Backend.Features())...)
	case *v1.ValidatingAdmissionPolicyBinding:
		return validation.ValidateValidatingAdmissionPolicyBinding(o)
	case *v1.MutatingAdmissionPolicy:
		return append(validation.ValidateMutatingAdmissionPolicy(o, Backend.Features()), policyspec.DisabledExpressions(&o.Spec, Backend.Features())...)
	case *v1.MutatingAdmissionPolicyBinding:
		return validation.ValidateMutatingAdmissionPolicyBinding(o)
	case *corev1.ConfigMap:
		for key := range o.Data {
			for _, text := range utilvalidation.IsConfigMapKey(key) {
				errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, text))
			}
		}
	case *appsv1.Deployment:
		if *o.Spec.Replicas < 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), *o.Spec.Replicas, "must not be negative"))
		}
	}
	return errs
}

// ValidateUpdate also returns the errors of changed metadata.
func (s strategy) ValidateUpdate(ctx context.Context, object, old runtime.Object) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(object.(metav1.Object), old.(metav1.Object), field.NewPath("metadata"))
	return append(errs, s.Validate(ctx, object)...)
}
