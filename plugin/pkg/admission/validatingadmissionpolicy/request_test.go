// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
)

var (
	deployments       = appsv1.SchemeGroupVersion.WithResource("deployments")
	deployment        = appsv1.SchemeGroupVersion.WithKind("Deployment")
	legacyDeployments = extensionsv1beta1.SchemeGroupVersion.WithResource("deployments")
	legacyDeployment  = extensionsv1beta1.SchemeGroupVersion.WithKind("Deployment")
	widgets           = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	widget            = widgets.GroupVersion().WithKind("Widget")
)

// interfaces returns the interfaces of a server with the built-in types. It serves deployments in
// several versions, one of which has no kind and another no Go type.
func interfaces() admission.ObjectInterfaces {
	mapper := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string {
		if r.Resource == "deployments" {
			return "deployments"
		}
		return ""
	})
	for resource, kind := range map[schema.GroupVersionResource]schema.GroupVersionKind{
		deployments:       deployment,
		legacyDeployments: legacyDeployment,
		appsv1beta1.SchemeGroupVersion.WithResource("deployments"): {},
		{Group: "apps", Version: "v9", Resource: "deployments"}:    {Group: "apps", Version: "v9", Kind: "Deployment"},
	} {
		mapper.RegisterKindFor(resource, "", kind)
	}
	scheme := legacyscheme.Scheme
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater: scheme, ObjectTyper: scheme, ObjectDefaulter: scheme, ObjectConvertor: scheme,
		EquivalentResourceMapper: mapper,
	}
}

var jane = &user.DefaultInfo{
	Name:   "jane",
	UID:    "u1",
	Groups: []string{"developers", "oncall"},
	Extra:  map[string][]string{"example.com/team": {"blue", "red"}},
}

func metadata(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "shop"}}
}

// deploy returns a deployment of the internal version, which the requests of plugins contain.
func deploy(namespace, name string, replicas int32) *apps.Deployment {
	return &apps.Deployment{ObjectMeta: metadata(namespace, name), Spec: apps.DeploymentSpec{Replicas: replicas}}
}

func newWidget(size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "blue", "name": "w"},
		"spec":       map[string]any{"replicas": size, "parts": []any{"a", "b"}},
	}}
}

// create returns a request to create a deployment with the given replicas.
func create(replicas int32) admission.Attributes {
	return admission.NewAttributesRecord(deploy("blue", "web", replicas), nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
}

// requests returns requests of all operations, for built-in types, subresources and custom
// resources.
func requests() map[string]admission.Attributes {
	record := admission.NewAttributesRecord
	scale := &autoscaling.Scale{ObjectMeta: metadata("blue", "web"), Spec: autoscaling.ScaleSpec{Replicas: 9}}
	nameless := deploy("blue", "", 9)
	nameless.GenerateName = "web-"
	namespace := corev1.SchemeGroupVersion.WithKind("Namespace")
	namespaces := corev1.SchemeGroupVersion.WithResource("namespaces")
	return map[string]admission.Attributes{
		"create":           create(3),
		"create too many":  create(9),
		"create nameless":  record(nameless, nil, deployment, "blue", "", deployments, "", admission.Create, &metav1.CreateOptions{FieldManager: "kubectl"}, false, nil),
		"update":           record(deploy("blue", "web", 9), deploy("blue", "web", 3), deployment, "blue", "web", deployments, "", admission.Update, &metav1.UpdateOptions{DryRun: []string{"All"}}, true, jane),
		"delete":           record(nil, deploy("blue", "web", 9), deployment, "blue", "web", deployments, "", admission.Delete, &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}, false, jane),
		"scale":            record(scale, scale, autoscalingv1.SchemeGroupVersion.WithKind("Scale"), "blue", "web", deployments, "scale", admission.Update, &metav1.UpdateOptions{}, false, jane),
		"exec":             record(&core.PodExecOptions{Command: []string{"sh"}}, nil, corev1.SchemeGroupVersion.WithKind("PodExecOptions"), "blue", "p", corev1.SchemeGroupVersion.WithResource("pods"), "exec", admission.Connect, nil, false, jane),
		"create namespace": record(&core.Namespace{ObjectMeta: metadata("", "green")}, nil, namespace, "green", "green", namespaces, "", admission.Create, &metav1.CreateOptions{}, false, jane),
		"delete namespace": record(nil, &core.Namespace{ObjectMeta: metadata("", "red")}, namespace, "red", "red", namespaces, "", admission.Delete, &metav1.DeleteOptions{}, false, jane),
		"create node":      record(&core.Node{ObjectMeta: metadata("", "n1")}, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", "n1", corev1.SchemeGroupVersion.WithResource("nodes"), "", admission.Create, &metav1.CreateOptions{}, false, jane),
		"create widget":    record(newWidget(9), nil, widget, "blue", "w", widgets, "", admission.Create, &metav1.CreateOptions{}, false, jane),
		"update widget":    record(newWidget(3), newWidget(9), widget, "blue", "w", widgets, "status", admission.Update, &metav1.UpdateOptions{}, false, jane),
		"nowhere":          record(deploy("nowhere", "web", 9), nil, deployment, "nowhere", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane),
	}
}
