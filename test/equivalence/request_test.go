// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/core"
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
	// abandoned requests come from clients that do not wait for the answer.
	abandoned bool
}

// attributes returns new attributes: they collect annotations, so each examination needs
// its own.
func (r request) attributes() admission.Attributes {
	return admission.NewAttributesRecord(r.object, r.old, r.kind, r.namespace, r.name, r.resource, r.subresource, r.operation, r.options, r.dryRun, r.user)
}

var (
	jane = &user.DefaultInfo{
		Name:   "jane",
		UID:    "u1",
		Groups: []string{"developers", "oncall"},
		Extra:  map[string][]string{"example.com/team": {"blue", "red"}},
	}
	robot = &user.DefaultInfo{Name: "system:serviceaccount:blue:robot", Groups: []string{"system:serviceaccounts"}}
)

// namespaces are those that exist. Requests also go to "nowhere".
var namespaces = []*unstructured.Unstructured{
	space("blue"), space("red"), space("bare"),
}

// space returns a namespace as a server sends it.
func space(name string) *unstructured.Unstructured {
	object := param("v1", "Namespace", "", name)
	if name != "bare" {
		object.SetLabels(map[string]string{"name": name, "kubernetes.io/metadata.name": name})
		object.SetAnnotations(map[string]string{"purpose": "test"})
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "owner"}})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1"}})
	}
	object.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
	object.Object["status"] = map[string]any{"phase": "Active"}
	return object
}

// param returns an object as a server sends it.
func param(apiVersion, kind, namespace, name string, fields ...any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetUID(types.UID("uid-of-" + name))
	object.SetResourceVersion("7")
	object.SetCreationTimestamp(metav1.Date(2026, 1, 2, 3, 4, 5, 0, metav1.Now().Location()))
	for i := 0; i+1 < len(fields); i += 2 {
		object.Object[fields[i].(string)] = fields[i+1]
	}
	return object
}

func metadata(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "shop"}}
}

func deploy(namespace, name string, replicas int32) *apps.Deployment {
	return &apps.Deployment{ObjectMeta: metadata(namespace, name), Spec: apps.DeploymentSpec{
		Replicas: replicas,
		Template: core.PodTemplateSpec{Spec: core.PodSpec{Containers: []core.Container{
			{Name: "main", Image: "registry.example.com/shop:1.2"}, {Name: "side", Image: "mirror.example.com/proxy:latest"},
		}}},
	}}
}

func widgetOf(version string, name string, size int64) *unstructured.Unstructured {
	field := "replicas"
	if version == "v2" {
		field = "size"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version,
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "blue", "name": name, "labels": map[string]any{"app": "parts"}},
		"spec":       map[string]any{field: size, "parts": []any{"a", "b"}, "ratio": 0.5},
	}}
}

// creation returns the request to create a deployment with the given replicas.
func creation(namespace, name string, replicas int32) request {
	return request{
		operation: admission.Create, resource: deployments, kind: deployment, namespace: namespace, name: name,
		object: deploy(namespace, name, replicas), options: &metav1.CreateOptions{}, user: jane,
	}
}

// fixed are the requests by name, of every sort that plugins are asked about.
var (
	fixed      = requests()
	fixedNames = slices.Sorted(maps.Keys(fixed))
)

func requests() map[string]request {
	core1 := corev1.SchemeGroupVersion
	pods, pod := core1.WithResource("pods"), core1.WithKind("Pod")
	nodes, node := core1.WithResource("nodes"), core1.WithKind("Node")
	namespaces, namespace := core1.WithResource("namespaces"), core1.WithKind("Namespace")
	scale := &autoscaling.Scale{ObjectMeta: metadata("blue", "web"), Spec: autoscaling.ScaleSpec{Replicas: 9}}
	with := func(r request, change func(*request)) request {
		change(&r)
		return r
	}
	create := creation("blue", "web", 9)
	update := with(create, func(r *request) {
		r.operation, r.old, r.options = admission.Update, deploy("blue", "web", 3), &metav1.UpdateOptions{}
	})
	remove := with(create, func(r *request) {
		r.operation, r.object, r.old = admission.Delete, nil, deploy("blue", "web", 9)
		r.options = &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}
	})
	exec := request{
		operation: admission.Connect, resource: pods, subresource: "exec", kind: core1.WithKind("PodExecOptions"), namespace: "blue", name: "p",
		object: &core.PodExecOptions{Command: []string{"sh"}}, user: jane,
	}
	newNode := request{
		operation: admission.Create, resource: nodes, kind: node, name: "n1",
		object: &core.Node{ObjectMeta: metadata("", "n1")}, options: &metav1.CreateOptions{}, user: jane,
	}
	newWidget := request{
		operation: admission.Create, resource: widgets, kind: widget, namespace: "blue", name: "w",
		object: widgetOf("v1", "w", 9), options: &metav1.CreateOptions{}, user: jane,
	}
	return map[string]request{
		"create":     create,
		"create few": creation("blue", "web", 3),
		"create nameless": with(create, func(r *request) {
			nameless := deploy("blue", "", 9)
			nameless.GenerateName = "web-"
			r.name, r.object, r.options, r.user = "", nameless, &metav1.CreateOptions{FieldManager: "kubectl"}, nil
		}),
		"create dry": with(create, func(r *request) {
			r.dryRun, r.options = true, &metav1.CreateOptions{DryRun: []string{"All"}}
		}),
		"create by apply": with(create, func(r *request) {
			r.options = &metav1.PatchOptions{FieldManager: "kubectl", Force: new(true)}
		}),
		"create by robot": with(create, func(r *request) { r.user = robot }),
		"create in red":   creation("red", "api", 9),
		"create in bare":  creation("bare", "web", 9),
		"create nowhere":  creation("nowhere", "web", 9),
		"create legacy": with(create, func(r *request) {
			r.resource, r.kind = legacyDeployments, legacyDeployment
		}),
		"update": update,
		"update unchanged": with(update, func(r *request) {
			r.object, r.dryRun, r.options = deploy("blue", "web", 3), true, &metav1.UpdateOptions{DryRun: []string{"All"}}
		}),
		"update status": with(update, func(r *request) { r.subresource = "status" }),
		"scale": {
			operation: admission.Update, resource: deployments, subresource: "scale", kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
			namespace: "blue", name: "web", object: scale, old: scale, options: &metav1.UpdateOptions{}, user: jane,
		},
		"delete":            remove,
		"delete without":    with(remove, func(r *request) { r.old, r.options = nil, &metav1.DeleteOptions{} }),
		"delete collection": with(remove, func(r *request) { r.name = "" }),
		"exec":              exec,
		"attach": with(exec, func(r *request) {
			r.subresource, r.kind, r.object = "attach", core1.WithKind("PodAttachOptions"), &core.PodAttachOptions{TTY: true}
		}),
		"debug": {
			operation: admission.Update, resource: pods, subresource: "ephemeralcontainers", kind: pod, namespace: "blue", name: "p",
			object:  &core.Pod{ObjectMeta: metadata("blue", "p"), Spec: core.PodSpec{EphemeralContainers: []core.EphemeralContainer{{EphemeralContainerCommon: core.EphemeralContainerCommon{Name: "debug"}}}}},
			old:     &core.Pod{ObjectMeta: metadata("blue", "p")},
			options: &metav1.UpdateOptions{}, user: jane,
		},
		"create namespace": {
			operation: admission.Create, resource: namespaces, kind: namespace, namespace: "green", name: "green",
			object: &core.Namespace{ObjectMeta: metadata("", "green")}, options: &metav1.CreateOptions{}, user: jane,
		},
		"delete namespace": {
			operation: admission.Delete, resource: namespaces, kind: namespace, namespace: "red", name: "red",
			old: &core.Namespace{ObjectMeta: metadata("", "red")}, options: &metav1.DeleteOptions{}, user: jane,
		},
		"create node":   newNode,
		"delete node":   with(newNode, func(r *request) { r.operation, r.object, r.old, r.options = admission.Delete, nil, newNode.object, nil }),
		"create widget": newWidget,
		"create newer widget": with(newWidget, func(r *request) {
			r.resource, r.kind, r.object = newerWidgets, newerWidget, widgetOf("v2", "w", 9)
		}),
		"update widget": with(newWidget, func(r *request) {
			r.operation, r.subresource, r.old, r.options = admission.Update, "status", widgetOf("v1", "w", 3), &metav1.UpdateOptions{}
		}),
		"create webhook": {
			operation: admission.Create, resource: admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
			kind: admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), name: "hook",
			object: param("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "hook"), options: &metav1.CreateOptions{}, user: jane,
		},
		"create policy": {
			operation: admission.Create, resource: policiesOf(admissionregistrationv1.SchemeGroupVersion),
			kind: admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"), name: "p",
			object: param("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", "p"), options: &metav1.CreateOptions{}, user: jane,
		},
		"delete widget": with(newWidget, func(r *request) {
			r.operation, r.object, r.old, r.options = admission.Delete, nil, newWidget.object, &metav1.DeleteOptions{}
		}),
	}
}
