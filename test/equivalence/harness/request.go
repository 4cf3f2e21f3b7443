// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/core"
)

// A Request is an API request with the attributes that admission plugins receive.
type Request struct {
	Operation       admission.Operation
	Resource        schema.GroupVersionResource
	Subresource     string
	Kind            schema.GroupVersionKind
	Namespace, Name string
	Object, Old     runtime.Object
	Options         runtime.Object
	DryRun          bool
	User            user.Info
	// Timeout is the time after which the client gives up: never if zero, at once if negative.
	Timeout time.Duration
	// Touch changes the object after the first round of mutating admission, as another plugin may
	// do. It causes a reinvocation.
	Touch func(runtime.Object)
}

// With returns a changed copy of the request.
func (r Request) With(change func(*Request)) Request {
	change(&r)
	return r
}

// Attributes returns new attributes with copies of the objects, because plugins change objects
// and collect annotations.
func (r Request) Attributes() admission.Attributes {
	return admission.NewAttributesRecord(Copy(r.Object), Copy(r.Old), r.Kind, r.Namespace, r.Name, r.Resource, r.Subresource, r.Operation, Copy(r.Options), r.DryRun, r.User)
}

// Context returns the context of the request, which is canceled when the client gives up.
func (r Request) Context(parent context.Context) (context.Context, context.CancelFunc) {
	if r.Timeout > 0 {
		return context.WithTimeout(parent, r.Timeout)
	}
	ctx, cancel := context.WithCancel(parent)
	if r.Timeout < 0 {
		cancel()
	}
	return ctx, cancel
}

// Copy returns a deep copy of an object, or nil.
func Copy(object runtime.Object) runtime.Object {
	if object == nil {
		return nil
	}
	return object.DeepCopyObject()
}

// Jane and Robot send requests: a user and a service account.
var (
	Jane = &user.DefaultInfo{
		Name:   "jane",
		UID:    "u1",
		Groups: []string{"developers", "oncall"},
		Extra:  map[string][]string{"example.com/team": {"blue", "red"}},
	}
	Robot = &user.DefaultInfo{Name: "system:serviceaccount:blue:robot", Groups: []string{"system:serviceaccounts"}}
)

// Objects holds the functions with which Requests creates the objects of requests. Each suite sets
// its own.
type Objects struct {
	// Deployment returns a deployment in its internal version.
	Deployment func(namespace, name string, replicas int32) runtime.Object
	// Widget returns a widget in version v1 or v2.
	Widget func(version, name string, size int64) *unstructured.Unstructured
}

// Creation returns the request to create a deployment.
func (o Objects) Creation(namespace, name string, replicas int32) Request {
	return Request{
		Operation: admission.Create, Resource: Deployments, Kind: Deployment, Namespace: namespace, Name: name,
		Object: o.Deployment(namespace, name, replicas), Options: &metav1.CreateOptions{}, User: Jane,
	}
}

// Requests returns the requests that all suites send, by name: each operation on built-in and
// custom resources, on subresources and on cluster-scoped resources.
func (o Objects) Requests() map[string]Request {
	core1 := corev1.SchemeGroupVersion
	create := o.Creation("blue", "web", 9)
	update := create.With(func(r *Request) {
		r.Operation, r.Old, r.Options = admission.Update, o.Deployment("blue", "web", 3), &metav1.UpdateOptions{}
	})
	remove := create.With(func(r *Request) {
		r.Operation, r.Object, r.Old, r.Options = admission.Delete, nil, r.Object, &metav1.DeleteOptions{}
	})
	newWidget := Request{
		Operation: admission.Create, Resource: Widgets, Kind: Widget, Namespace: "blue", Name: "w",
		Object: o.Widget("v1", "w", 9), Options: &metav1.CreateOptions{}, User: Jane,
	}
	scale := &autoscaling.Scale{ObjectMeta: Metadata("blue", "web"), Spec: autoscaling.ScaleSpec{Replicas: 9}}
	green := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "green", Labels: map[string]string{"name": "green", "app": "shop"}}}
	return map[string]Request{
		"create":          create,
		"create few":      o.Creation("blue", "web", 3),
		"create in red":   o.Creation("red", "api", 9),
		"create in bare":  o.Creation("bare", "web", 9),
		"create nowhere":  o.Creation("nowhere", "web", 9),
		"create by robot": create.With(func(r *Request) { r.User = Robot }),
		"create dry": create.With(func(r *Request) {
			r.DryRun, r.Options = true, &metav1.CreateOptions{DryRun: []string{"All"}}
		}),
		"create legacy": create.With(func(r *Request) { r.Resource, r.Kind = LegacyDeployments, LegacyDeployment }),
		"update":        update,
		"update status": update.With(func(r *Request) { r.Subresource = "status" }),
		"scale": {
			Operation: admission.Update, Resource: Deployments, Subresource: "scale", Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
			Namespace: "blue", Name: "web", Object: scale, Old: scale, Options: &metav1.UpdateOptions{}, User: Jane,
		},
		"delete":            remove,
		"delete without":    remove.With(func(r *Request) { r.Old = nil }),
		"delete collection": remove.With(func(r *Request) { r.Name = "" }),
		"exec": {
			Operation: admission.Connect, Resource: core1.WithResource("pods"), Subresource: "exec", Kind: core1.WithKind("PodExecOptions"),
			Namespace: "blue", Name: "p", Object: &core.PodExecOptions{Command: []string{"sh"}, Container: "main"}, User: Jane,
		},
		"create namespace": {
			Operation: admission.Create, Resource: core1.WithResource("namespaces"), Kind: core1.WithKind("Namespace"), Namespace: "green", Name: "green",
			Object: Received(green), Options: &metav1.CreateOptions{}, User: Jane,
		},
		"create node": {
			Operation: admission.Create, Resource: core1.WithResource("nodes"), Kind: core1.WithKind("Node"), Name: "n1",
			Object: Received(&corev1.Node{ObjectMeta: Metadata("", "n1")}), Options: &metav1.CreateOptions{}, User: Jane,
		},
		"create widget": newWidget,
		"create newer widget": newWidget.With(func(r *Request) {
			r.Resource, r.Kind, r.Object = NewerWidgets, NewerWidget, o.Widget("v2", "w", 9)
		}),
		"update widget": newWidget.With(func(r *Request) {
			r.Operation, r.Old, r.Options = admission.Update, o.Widget("v1", "w", 3), &metav1.UpdateOptions{}
		}),
		"delete widget": newWidget.With(func(r *Request) {
			r.Operation, r.Object, r.Old, r.Options = admission.Delete, nil, r.Object, &metav1.DeleteOptions{}
		}),
		"create webhook": Registration("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
	}
}

// Registration returns the request to create an object of a kind of group
// admissionregistration.k8s.io.
func Registration(kind, resource string) Request {
	version := admissionregistrationv1.SchemeGroupVersion
	return Request{
		Operation: admission.Create, Resource: version.WithResource(resource), Kind: version.WithKind(kind), Name: "r",
		Object: Manifest(version.String(), kind, "", "r"), Options: &metav1.CreateOptions{}, User: Jane,
	}
}
