// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
)

// The resources and kinds of requests. A LegacyDeployment is the same object as a Deployment in
// another API group, and a NewerWidget is the same as a Widget in another version.
var (
	Deployments       = appsv1.SchemeGroupVersion.WithResource("deployments")
	Deployment        = appsv1.SchemeGroupVersion.WithKind("Deployment")
	LegacyDeployments = extensionsv1beta1.SchemeGroupVersion.WithResource("deployments")
	LegacyDeployment  = extensionsv1beta1.SchemeGroupVersion.WithKind("Deployment")
	Widgets           = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	Widget            = Widgets.GroupVersion().WithKind("Widget")
	NewerWidgets      = schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "widgets"}
	NewerWidget       = NewerWidgets.GroupVersion().WithKind("Widget")
)

// Interfaces are the object interfaces of a server that serves built-in types, and widgets in two
// versions. Deployments are also served in two unusual versions: one has no kind, and the kind of
// the other has no Go type.
var Interfaces = func() *admission.RuntimeObjectInterfaces {
	equivalents := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string {
		if r.Resource == "deployments" {
			return "deployments"
		}
		return ""
	})
	for resource, kind := range map[schema.GroupVersionResource]schema.GroupVersionKind{
		Deployments:       Deployment,
		LegacyDeployments: LegacyDeployment,
		Widgets:           Widget,
		NewerWidgets:      NewerWidget,
		appsv1beta1.SchemeGroupVersion.WithResource("deployments"): {},
		{Group: "apps", Version: "v9", Resource: "deployments"}:    {Group: "apps", Version: "v9", Kind: "Deployment"},
	} {
		equivalents.RegisterKindFor(resource, "", kind)
	}
	s := scheme{legacyscheme.Scheme}
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater: s, ObjectTyper: s, ObjectDefaulter: s, ObjectConvertor: s,
		EquivalentResourceMapper: equivalents,
	}
}()

// scheme is the scheme of built-in types with widgets. The field of a widget that version v1 calls
// replicas is called size in v2.
type scheme struct{ *runtime.Scheme }

// New implements runtime.ObjectCreater.
func (s scheme) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind != Widget && kind != NewerWidget {
		return s.Scheme.New(kind)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// Convert implements runtime.ObjectConvertor.
func (s scheme) Convert(in, out, context any) error {
	from, ok := in.(*unstructured.Unstructured)
	if !ok {
		return s.Scheme.Convert(in, out, context)
	}
	to, ok := out.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("cannot convert %s to %T", from.GetKind(), out)
	}
	kind := to.GroupVersionKind()
	from.DeepCopyInto(to)
	to.SetGroupVersionKind(kind)
	old, current := "replicas", "size"
	if kind == Widget {
		old, current = current, old
	}
	if spec, ok := to.Object["spec"].(map[string]any); ok {
		if size, ok := spec[old]; ok {
			delete(spec, old)
			spec[current] = size
		}
	}
	return nil
}
