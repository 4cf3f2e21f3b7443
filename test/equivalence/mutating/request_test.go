// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
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
	// touch is what another plugin does to the object when policies have seen it. They see
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
	jane  = &user.DefaultInfo{Name: "jane", UID: "u1", Groups: []string{"developers"}}
	robot = &user.DefaultInfo{Name: "system:serviceaccount:blue:robot", Groups: []string{"system:serviceaccounts"}}
)

// namespaces are the labels of those that exist. Requests also go to "nowhere".
var namespaces = map[string]map[string]string{"blue": {"name": "blue"}, "red": {"name": "red"}, "bare": nil}

// space returns a namespace as informers deliver it.
func space(name string) *corev1.Namespace {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: namespaces[name]}}
	if name != "bare" {
		object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "owner", UID: "u1"}}
		object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{}}`)}}}
		object.Spec.Finalizers = []corev1.FinalizerName{"kubernetes"}
		object.Status.Phase = corev1.NamespaceActive
	}
	return object
}

func metadata(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "shop"}}
}

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
	return &appsv1.Deployment{ObjectMeta: metadata(namespace, name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
		Template: template(),
	}}
}

func pod(namespace, name string) *corev1.Pod {
	m := metadata(namespace, name)
	m.Finalizers = []string{"example.com/a", "example.com/b"}
	m.Annotations = map[string]string{"a/b~c": "odd"}
	return &corev1.Pod{ObjectMeta: m, Spec: template().Spec}
}

// received returns an object as a server has it, with defaults.
func received(object runtime.Object) runtime.Object {
	legacyscheme.Scheme.Default(object)
	return internal(object)
}

func internal(object runtime.Object) runtime.Object {
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	converted, err := legacyscheme.Scheme.UnsafeConvertToVersion(object, schema.GroupVersion{Group: kinds[0].Group, Version: runtime.APIVersionInternal})
	if err != nil {
		panic(err)
	}
	return converted
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
		"spec": map[string]any{
			field: size, "parts": []any{"a", "b"}, "tags": []any{"x"}, "ratio": 0.5, "frame": map[string]any{"color": "red"},
			"slots": []any{map[string]any{"name": "top", "side": "left", "depth": int64(1)}, map[string]any{"name": "top", "side": "right"}},
		},
	}}
}

// creation returns the request to create a deployment with the given replicas.
func creation(namespace, name string, replicas int32) request {
	return request{
		operation: admission.Create, resource: served.Deployments, kind: served.Deployment, namespace: namespace, name: name,
		object: received(deploy(namespace, name, replicas)), options: &metav1.CreateOptions{}, user: jane,
	}
}

// touch sets a label, as another plugin may.
func touch(object runtime.Object) { setLabel(object, "touched", "yes") }

func setLabel(object runtime.Object, name, value string) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	labels := maps.Clone(accessor.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[name] = value
	accessor.SetLabels(labels)
}

// labelled returns the request with a label on its objects.
func (r request) labelled(name, value string) request {
	r.object, r.old = copyOf(r.object), copyOf(r.old)
	for _, object := range []runtime.Object{r.object, r.old} {
		if object != nil {
			setLabel(object, name, value)
		}
	}
	return r
}

// fixed are the requests by name, of every sort that plugins are asked about.
var (
	fixed      = requests()
	fixedNames = slices.Sorted(maps.Keys(fixed))
)

func requests() map[string]request {
	core1 := corev1.SchemeGroupVersion
	with := func(r request, changes ...func(*request)) request {
		for _, change := range changes {
			change(&r)
		}
		return r
	}
	touched := func(r *request) { r.touch = touch }
	create := creation("blue", "web", 9)
	update := with(create, func(r *request) {
		r.operation, r.old, r.options = admission.Update, received(deploy("blue", "web", 3)), &metav1.UpdateOptions{}
	})
	newPod := request{
		operation: admission.Create, resource: core1.WithResource("pods"), kind: core1.WithKind("Pod"), namespace: "blue", name: "p",
		object: received(pod("blue", "p")), options: &metav1.CreateOptions{}, user: jane,
	}
	exec := request{
		operation: admission.Connect, resource: core1.WithResource("pods"), subresource: "exec", kind: core1.WithKind("PodExecOptions"),
		namespace: "blue", name: "p", object: &core.PodExecOptions{Command: []string{"sh"}, Container: "main"}, user: jane,
	}
	scale := &autoscaling.Scale{ObjectMeta: metadata("blue", "web"), Spec: autoscaling.ScaleSpec{Replicas: 9}}
	newWidget := request{
		operation: admission.Create, resource: served.Widgets, kind: served.Widget, namespace: "blue", name: "w",
		object: widget("v1", "w", 9), options: &metav1.CreateOptions{}, user: jane,
	}
	return map[string]request{
		"create":          create,
		"create few":      creation("blue", "web", 3),
		"create in red":   creation("red", "api", 9),
		"create in bare":  creation("bare", "web", 9),
		"create nowhere":  creation("nowhere", "web", 9),
		"create touched":  with(create, touched),
		"create by robot": with(create, func(r *request) { r.user = robot }),
		"create dry": with(create, func(r *request) {
			r.dryRun, r.options = true, &metav1.CreateOptions{DryRun: []string{"All"}}
		}),
		// Another plugin may have added what has no defaults yet.
		"create raw": with(create, func(r *request) { r.object = internal(deploy("blue", "web", 9)) }),
		"create nameless": with(create, func(r *request) {
			nameless := deploy("blue", "", 9)
			nameless.GenerateName = "web-"
			r.name, r.object = "", received(nameless)
		}),
		"create legacy": with(create, func(r *request) {
			r.resource, r.kind = served.LegacyDeployments, served.LegacyDeployment
		}),
		"create pod":         newPod,
		"create pod touched": with(newPod, touched),
		"update":             update,
		"update status":      with(update, func(r *request) { r.subresource = "status" }),
		"scale": {
			operation: admission.Update, resource: served.Deployments, subresource: "scale", kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
			namespace: "blue", name: "web", object: scale, old: scale, options: &metav1.UpdateOptions{}, user: jane,
		},
		"delete": with(create, func(r *request) {
			r.operation, r.object, r.old, r.options = admission.Delete, nil, create.object, &metav1.DeleteOptions{}
		}),
		"exec": exec,
		"proxy": with(exec, func(r *request) {
			r.subresource, r.kind, r.object = "proxy", core1.WithKind("PodProxyOptions"), nil
		}),
		"create namespace": {
			operation: admission.Create, resource: core1.WithResource("namespaces"), kind: core1.WithKind("Namespace"), namespace: "green", name: "green",
			object: received(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "green", Labels: map[string]string{"name": "green", "app": "shop"}}}), options: &metav1.CreateOptions{}, user: jane,
		},
		"create node": {
			operation: admission.Create, resource: core1.WithResource("nodes"), kind: core1.WithKind("Node"), name: "n1",
			object: received(&corev1.Node{ObjectMeta: metadata("", "n1")}), options: &metav1.CreateOptions{}, user: jane,
		},
		"create widget":         newWidget,
		"create widget touched": with(newWidget, touched),
		"create newer widget": with(newWidget, func(r *request) {
			r.resource, r.kind, r.object = served.NewerWidgets, served.NewerWidget, widget("v2", "w", 9)
		}),
		"update widget": with(newWidget, func(r *request) {
			r.operation, r.old, r.options = admission.Update, widget("v1", "w", 3), &metav1.UpdateOptions{}
		}),
		// The server knows the kind, but has not published its schema yet.
		"create gadget": with(newWidget, func(r *request) {
			r.resource, r.kind = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "gadgets"}, schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"}
			gadget := widget("v1", "w", 9)
			gadget.SetGroupVersionKind(r.kind)
			r.object = gadget
		}),
		"create policy": {
			operation: admission.Create, resource: admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingadmissionpolicies"),
			kind: admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"), name: "p",
			object: param("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "", "p"), options: &metav1.CreateOptions{}, user: jane,
		},
	}
}
