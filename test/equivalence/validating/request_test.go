// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/core"

	"celador.io/celador/test/equivalence/harness"
)

var objects = harness.Objects{Deployment: deploy, Widget: widget}

// deploy returns a deployment with two containers.
func deploy(namespace, name string, replicas int32) runtime.Object {
	return &apps.Deployment{ObjectMeta: harness.Metadata(namespace, name), Spec: apps.DeploymentSpec{
		Replicas: replicas,
		Template: core.PodTemplateSpec{Spec: core.PodSpec{Containers: []core.Container{
			{Name: "main", Image: "registry.example.com/shop:1.2"}, {Name: "side", Image: "mirror.example.com/proxy:latest"},
		}}},
	}}
}

// widget returns a widget with another label than deployments have.
func widget(version, name string, size int64) *unstructured.Unstructured {
	object := harness.NewWidget(version, name, size)
	object.SetLabels(map[string]string{"app": "parts"})
	return object
}

// fixed are the requests that all examples compare, by name.
var (
	fixed      = requests()
	fixedNames = harness.Names(fixed)
)

func requests() map[string]request {
	core1 := corev1.SchemeGroupVersion
	all := objects.Requests()
	create, update, remove, exec := all["create"], all["update"], all["delete"], all["exec"]
	maps.Copy(all, map[string]request{
		"create nameless": create.With(func(r *request) {
			nameless := deploy("blue", "", 9).(*apps.Deployment)
			nameless.GenerateName = "web-"
			r.Name, r.Object, r.Options, r.User = "", nameless, &metav1.CreateOptions{FieldManager: "kubectl"}, nil
		}),
		"create by apply": create.With(func(r *request) {
			r.Options = &metav1.PatchOptions{FieldManager: "kubectl", Force: new(true)}
		}),
		"update unchanged": update.With(func(r *request) {
			r.Object, r.DryRun, r.Options = r.Old, true, &metav1.UpdateOptions{DryRun: []string{"All"}}
		}),
		"update widget status": all["update widget"].With(func(r *request) { r.Subresource = "status" }),
		"delete in foreground": remove.With(func(r *request) {
			r.Options = &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}
		}),
		"attach": exec.With(func(r *request) {
			r.Subresource, r.Kind, r.Object = "attach", core1.WithKind("PodAttachOptions"), &core.PodAttachOptions{TTY: true}
		}),
		"debug": {
			Operation: admission.Update, Resource: core1.WithResource("pods"), Subresource: "ephemeralcontainers", Kind: core1.WithKind("Pod"), Namespace: "blue", Name: "p",
			Object:  &core.Pod{ObjectMeta: harness.Metadata("blue", "p"), Spec: core.PodSpec{EphemeralContainers: []core.EphemeralContainer{{EphemeralContainerCommon: core.EphemeralContainerCommon{Name: "debug"}}}}},
			Old:     &core.Pod{ObjectMeta: harness.Metadata("blue", "p")},
			Options: &metav1.UpdateOptions{}, User: harness.Jane,
		},
		// One label, because examples list labels in the order of a map.
		"create namespace": all["create namespace"].With(func(r *request) {
			r.Object = &core.Namespace{ObjectMeta: harness.Metadata("", "green")}
		}),
		"delete namespace": {
			Operation: admission.Delete, Resource: core1.WithResource("namespaces"), Kind: core1.WithKind("Namespace"), Namespace: "red", Name: "red",
			Old: &core.Namespace{ObjectMeta: harness.Metadata("", "red")}, Options: &metav1.DeleteOptions{}, User: harness.Jane,
		},
		"delete node": all["create node"].With(func(r *request) {
			r.Operation, r.Object, r.Old, r.Options = admission.Delete, nil, r.Object, nil
		}),
		"create policy": harness.Registration("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
	})
	return all
}
