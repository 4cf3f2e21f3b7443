// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

var objects = harness.Objects{Deployment: deployed, Widget: widget}

// template has containers with and without the fields that policies change.
func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/shop:1.2", Args: []string{"--all"},
				Env:           []corev1.EnvVar{{Name: "REGION", Value: "north"}, {Name: "STAGE", Value: "test"}},
				Ports:         []corev1.ContainerPort{{Name: "web", ContainerPort: 80}, {Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP}},
				Resources:     corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.5")}},
				VolumeMounts:  []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}},
				LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/alive", Port: intstr.FromString("web")}}},
			}, {
				Name: "side", Image: "mirror.example.com/proxy:latest",
			}},
			Volumes:      []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			NodeSelector: map[string]string{"disk": "fast"},
			Tolerations:  []corev1.Toleration{{Key: "shared", Operator: corev1.TolerationOpExists}},
		},
	}
}

// deploy returns a deployment as a client writes it.
func deploy(namespace, name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: harness.Metadata(namespace, name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
		Template: template(),
	}}
}

func pod(namespace, name string) *corev1.Pod {
	m := harness.Metadata(namespace, name)
	m.Finalizers = []string{"example.com/a", "example.com/b"}
	m.Annotations = map[string]string{"a/b~c": "odd"}
	return &corev1.Pod{ObjectMeta: m, Spec: template().Spec}
}

// deployed returns a deployment with defaults.
func deployed(namespace, name string, replicas int32) runtime.Object {
	return received(deploy(namespace, name, replicas))
}

// widget returns a widget with each kind of list and map.
func widget(version, name string, size int64) *unstructured.Unstructured {
	object := harness.NewWidget(version, name, size)
	fields := object.Object["spec"].(map[string]any)
	fields["tags"], fields["frame"] = []any{"x"}, map[string]any{"color": "red"}
	fields["slots"] = []any{map[string]any{"name": "top", "side": "left", "depth": int64(1)}, map[string]any{"name": "top", "side": "right"}}
	return object
}

// withLabel returns a request whose objects have a label.
func withLabel(r request, name, value string) request {
	r.Object, r.Old = harness.Copy(r.Object), harness.Copy(r.Old)
	for _, object := range []runtime.Object{r.Object, r.Old} {
		if object != nil {
			harness.SetLabel(object, name, value)
		}
	}
	return r
}

// fixed are the requests that all examples compare, by name.
var (
	fixed      = requests()
	fixedNames = harness.Names(fixed)
)

func requests() map[string]request {
	core1 := corev1.SchemeGroupVersion
	touched := func(r *request) { r.Touch = touch }
	all := objects.Requests()
	create, newWidget := all["create"], all["create widget"]
	newPod := request{
		Operation: admission.Create, Resource: core1.WithResource("pods"), Kind: core1.WithKind("Pod"), Namespace: "blue", Name: "p",
		Object: received(pod("blue", "p")), Options: &metav1.CreateOptions{}, User: harness.Jane,
	}
	maps.Copy(all, map[string]request{
		"create touched": create.With(touched),
		// Another plugin may have added fields that have no defaults yet.
		"create raw": create.With(func(r *request) { r.Object = internal(deploy("blue", "web", 9)) }),
		"create nameless": create.With(func(r *request) {
			nameless := deploy("blue", "", 9)
			nameless.GenerateName = "web-"
			r.Name, r.Object = "", received(nameless)
		}),
		"create pod":         newPod,
		"create pod touched": newPod.With(touched),
		"proxy": all["exec"].With(func(r *request) {
			r.Subresource, r.Kind, r.Object = "proxy", core1.WithKind("PodProxyOptions"), nil
		}),
		"create widget touched": newWidget.With(touched),
		// The server serves the kind, but has not published its schema yet.
		"create gadget": newWidget.With(func(r *request) {
			r.Resource, r.Kind = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "gadgets"}, schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"}
			gadget := widget("v1", "w", 9)
			gadget.SetGroupVersionKind(r.Kind)
			r.Object = gadget
		}),
		"create policy": harness.Registration("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
	})
	return all
}
