// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"maps"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/authorization"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/core"

	"celador.io/celador/test/equivalence/served"
)

// request is what a client asks for, in the form in which plugins see it.
type request struct {
	operation       admission.Operation
	resource        schema.GroupVersionResource
	subresource     string
	kind            schema.GroupVersionKind
	namespace, name string
	object, old     runtime.Object
	options         runtime.Object
	dryRun          bool
	user            user.Info
	// patience is how long the client waits: not at all if negative.
	patience time.Duration
	// touch is what another plugin does to the object when webhooks have seen it. They see
	// it again then.
	touch func(runtime.Object)
}

// attributes returns new attributes, with objects of their own, as plugins change them.
func (r request) attributes() admission.Attributes {
	return admission.NewAttributesRecord(copyOf(r.object), copyOf(r.old), r.kind, r.namespace, r.name, r.resource, r.subresource, r.operation, copyOf(r.options), r.dryRun, r.user)
}

func copyOf(object runtime.Object) runtime.Object {
	if object == nil {
		return nil
	}
	return object.DeepCopyObject()
}

var (
	jane  = &user.DefaultInfo{Name: "jane", UID: "u1", Groups: []string{"developers", "oncall"}, Extra: map[string][]string{"example.com/team": {"blue", "red"}}}
	robot = &user.DefaultInfo{Name: "system:serviceaccount:blue:robot", Groups: []string{"system:serviceaccounts"}}
)

// namespaces are the labels of those that exist. Requests also go to "nowhere".
var namespaces = map[string]map[string]string{"blue": {"name": "blue"}, "red": {"name": "red"}, "bare": nil}

// reviews are resources that webhooks are not asked about.
var reviews = []schema.GroupResource{authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews").GroupResource()}

func metadata(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "shop"}}
}

// deploy returns a deployment as a server has it, with defaults.
func deploy(namespace, name string, replicas int32) runtime.Object {
	deployment := &appsv1.Deployment{ObjectMeta: metadata(namespace, name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/shop:1.2"}}}},
	}}
	legacyscheme.Scheme.Default(deployment)
	internal, err := legacyscheme.Scheme.ConvertToVersion(deployment, apps.SchemeGroupVersion)
	if err != nil {
		panic(err)
	}
	return internal
}

func widget(version, name string, size int64) *unstructured.Unstructured {
	field := "replicas"
	if version == "v2" {
		field = "size"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version,
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "blue", "name": name, "labels": map[string]any{"app": "shop"}},
		"spec":       map[string]any{field: size, "parts": []any{"a", "b"}},
	}}
}

// creation returns the request to create a deployment with the given replicas.
func creation(namespace, name string, replicas int32) request {
	return request{
		operation: admission.Create, resource: served.Deployments, kind: served.Deployment, namespace: namespace, name: name,
		object: deploy(namespace, name, replicas), options: &metav1.CreateOptions{}, user: jane,
	}
}

// touch is what another plugin does.
func touch(object runtime.Object) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	labels := maps.Clone(accessor.GetLabels())
	labels["touched"] = "yes"
	accessor.SetLabels(labels)
}

// fixed are the requests by name, of every sort that plugins are asked about.
var (
	fixed      = requests()
	fixedNames = slices.Sorted(maps.Keys(fixed))
)

func requests() map[string]request {
	core1 := corev1.SchemeGroupVersion
	with := func(r request, change func(*request)) request {
		change(&r)
		return r
	}
	create := creation("blue", "web", 9)
	update := with(create, func(r *request) {
		r.operation, r.old, r.options = admission.Update, deploy("blue", "web", 3), &metav1.UpdateOptions{}
	})
	remove := with(create, func(r *request) {
		r.operation, r.object, r.old, r.options = admission.Delete, nil, deploy("blue", "web", 9), &metav1.DeleteOptions{}
	})
	scale := &autoscaling.Scale{ObjectMeta: metadata("blue", "web"), Spec: autoscaling.ScaleSpec{Replicas: 9}}
	newWidget := request{
		operation: admission.Create, resource: served.Widgets, kind: served.Widget, namespace: "blue", name: "w",
		object: widget("v1", "w", 9), options: &metav1.CreateOptions{}, user: jane,
	}
	return map[string]request{
		"create":         create,
		"create few":     creation("blue", "web", 3),
		"create in red":  creation("red", "api", 9),
		"create in bare": creation("bare", "web", 9),
		"create nowhere": creation("nowhere", "web", 9),
		"create by robot": with(create, func(r *request) {
			r.user = robot
		}),
		"create dry": with(create, func(r *request) {
			r.dryRun, r.options = true, &metav1.CreateOptions{DryRun: []string{"All"}}
		}),
		"create legacy": with(create, func(r *request) {
			r.resource, r.kind = served.LegacyDeployments, served.LegacyDeployment
		}),
		"create abandoned": with(create, func(r *request) { r.patience = -1 }),
		"create hurried":   with(create, func(r *request) { r.patience = 1900 * time.Millisecond }),
		"create touched":   with(create, func(r *request) { r.touch = touch }),
		"create untouched": with(create, func(r *request) { r.touch = func(runtime.Object) {} }),
		"update":           update,
		"update status":    with(update, func(r *request) { r.subresource = "status" }),
		"scale": {
			operation: admission.Update, resource: served.Deployments, subresource: "scale", kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
			namespace: "blue", name: "web", object: scale, old: scale, options: &metav1.UpdateOptions{}, user: jane,
		},
		"delete":            remove,
		"delete without":    with(remove, func(r *request) { r.old = nil }),
		"delete collection": with(remove, func(r *request) { r.name = "" }),
		"exec": {
			operation: admission.Connect, resource: core1.WithResource("pods"), subresource: "exec", kind: core1.WithKind("PodExecOptions"),
			namespace: "blue", name: "p", object: &core.PodExecOptions{Command: []string{"sh"}}, user: jane,
		},
		"create namespace": {
			operation: admission.Create, resource: core1.WithResource("namespaces"), kind: core1.WithKind("Namespace"), namespace: "green", name: "green",
			object: &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "green", Labels: map[string]string{"name": "green", "app": "shop"}}}, options: &metav1.CreateOptions{}, user: jane,
		},
		"create node": {
			operation: admission.Create, resource: core1.WithResource("nodes"), kind: core1.WithKind("Node"), name: "n1",
			object: &core.Node{ObjectMeta: metadata("", "n1")}, options: &metav1.CreateOptions{}, user: jane,
		},
		"create widget":         newWidget,
		"create widget touched": with(newWidget, func(r *request) { r.touch = touch }),
		"create newer widget": with(newWidget, func(r *request) {
			r.resource, r.kind, r.object = served.NewerWidgets, served.NewerWidget, widget("v2", "w", 9)
		}),
		"update widget": with(newWidget, func(r *request) {
			r.operation, r.old, r.options = admission.Update, widget("v1", "w", 3), &metav1.UpdateOptions{}
		}),
		"delete widget": with(newWidget, func(r *request) {
			r.operation, r.object, r.old, r.options = admission.Delete, nil, newWidget.object, &metav1.DeleteOptions{}
		}),
		"create review": {
			operation: admission.Create, resource: reviews[0].WithVersion("v1"), kind: authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"),
			object: &authorization.SubjectAccessReview{}, options: &metav1.CreateOptions{}, user: jane,
		},
		"create webhook": {
			operation: admission.Create, resource: admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
			kind: admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), name: "hook",
			object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}}, options: &metav1.CreateOptions{}, user: jane,
		},
	}
}
