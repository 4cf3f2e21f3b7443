// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
)

// A Request holds the admission attributes that a server passes to plugins.
type Request struct {
	attributes admission.Attributes
	interfaces admission.ObjectInterfaces
}

// Create returns a request to create a deployment, a StatefulSet or a pod. It returns an error if
// the scheme cannot convert the object.
func Create(object runtime.Object) (*Request, error) {
	kind := object.GetObjectKind().GroupVersionKind()
	object = object.DeepCopyObject()
	legacyscheme.Scheme.Default(object)
	received, err := legacyscheme.Scheme.ConvertToVersion(object, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, fmt.Errorf("%s as a server has it: %w", kind.Kind, err)
	}
	jane := &user.DefaultInfo{Name: "jane", UID: "u1", Groups: []string{"developers", "system:authenticated"}}
	return &Request{
		admission.NewAttributesRecord(received, nil, kind, NamespaceName, "web", resources[kind.Kind], "", admission.Create, &metav1.CreateOptions{FieldManager: "benchmark"}, false, jane),
		interfaces(),
	}, nil
}

// resources are the resources for which policies and requests are made, by kind.
var resources = map[string]schema.GroupVersionResource{
	"Deployment":  appsv1.SchemeGroupVersion.WithResource("deployments"),
	"StatefulSet": appsv1.SchemeGroupVersion.WithResource("statefulsets"),
	"Pod":         corev1.SchemeGroupVersion.WithResource("pods"),
	"ConfigMap":   corev1.SchemeGroupVersion.WithResource("configmaps"),
}

// groupOf returns the API group of a resource.
func groupOf(resource string) string {
	for _, known := range resources {
		if known.Resource == resource {
			return known.Group
		}
	}
	panic("no group is known for " + resource)
}

func interfaces() admission.ObjectInterfaces {
	mapper := runtime.NewEquivalentResourceRegistry()
	for kind, resource := range resources {
		mapper.RegisterKindFor(resource, "", resource.GroupVersion().WithKind(kind))
	}
	scheme := legacyscheme.Scheme
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater: scheme, ObjectTyper: scheme, ObjectDefaulter: scheme, ObjectConvertor: scheme,
		EquivalentResourceMapper: mapper,
	}
}

// Send passes the request to a plugin and returns its error.
func (r *Request) Send(ctx context.Context, plugin admission.ValidationInterface) error {
	return plugin.Validate(ctx, r.attributes, r.interfaces)
}

// Mutate passes a copy of the object to a plugin and returns the mutated copy.
func (r *Request) Mutate(ctx context.Context, plugin admission.ValidationInterface) (runtime.Object, error) {
	a := r.attributes
	object := a.GetObject().DeepCopyObject()
	a = admission.NewAttributesRecord(object, nil, a.GetKind(), a.GetNamespace(), a.GetName(), a.GetResource(), "", a.GetOperation(), a.GetOperationOptions(), false, a.GetUserInfo())
	return object, plugin.Validate(ctx, a, r.interfaces)
}
