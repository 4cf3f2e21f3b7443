// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/suite"
)

// A request holds what all requests in the cases of a policy have in common. They differ only in
// their subject: the object that the request creates, updates or deletes, or the options of a
// CONNECT.
type request struct {
	operation   admission.Operation
	subresource string
	// stored is the object that an UPDATE changes, or whose subresource the request is for.
	// Otherwise it is nil.
	stored *unstructured.Unstructured
	// resource is set for a CONNECT only. Otherwise, the kind of the subject determines the
	// resource.
	resource *metav1.GroupVersionResource
	// time is set if a policy reads request.time.
	time *metav1.Time
}

// connectOptions maps subresources to the kinds of the bodies of CONNECT requests for them.
var connectOptions = map[string]string{
	"attach": "PodAttachOptions", "exec": "PodExecOptions", "portforward": "PodPortForwardOptions", "proxy": "PodProxyOptions",
}

// newRequest returns the request with which the search at a start begins, and its subject.
// definitions are the objects among which CustomResourceDefinitions are looked up.
func newRequest(from start, definitions []*unstructured.Unstructured) (request, *unstructured.Unstructured) {
	subject := from.sample
	r := request{operation: admission.Create}
	for i := len(operationOrder) - 1; i >= 0; i-- {
		for _, o := range from.rule.Operations {
			if o == operationOrder[i] || o == admissionv1.OperationAll && i == 0 {
				r.operation = admission.Operation(operationOrder[i])
			}
		}
	}
	_, r.subresource, _ = strings.Cut(from.path, "/")
	kind := subject.GroupVersionKind()
	switch {
	case connectOptions[r.subresource] != "" && kind.Kind == "Pod":
		r.operation, r.stored = admission.Connect, subject
		r.resource = &metav1.GroupVersionResource{Version: kind.Version, Resource: resourceOf(kind, definitions)}
		subject = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": connectOptions[r.subresource]}}
	case r.subresource != "" && r.operation == admission.Create, r.operation == admission.Update:
		r.operation, r.stored = admission.Update, subject.DeepCopy()
	}
	return r, subject
}

// operationOrder lists the operations in the order of preference: if a rule of a policy matches
// several, the cases use the first.
var operationOrder = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect}

// subject returns the name of the CEL variable in which expressions see the subject.
func (r *request) subject() string {
	if r.operation == admission.Delete {
		return "oldObject"
	}
	return "object"
}

// send returns the request with the given subject, in the form in which a cluster takes it.
func (r *request) send(subject *unstructured.Unstructured) *cluster.Request {
	out := &cluster.Request{Operation: r.operation, Subresource: r.subresource, Object: subject, OldObject: r.stored}
	if r.operation == admission.Update && subject != nil && (subject.GetName() != r.stored.GetName() || subject.GetNamespace() != r.stored.GetNamespace()) {
		out.OldObject = r.stored.DeepCopy()
		out.OldObject.SetName(subject.GetName())
		out.OldObject.SetNamespace(subject.GetNamespace())
	}
	if r.operation == admission.Delete {
		out.Object, out.OldObject = nil, subject
	}
	if r.time != nil {
		out.Time = r.time.Time
	}
	if r.resource != nil {
		out.Resource.Group, out.Resource.Version, out.Resource.Resource = r.resource.Group, r.resource.Version, r.resource.Resource
		out.Name = r.stored.GetName()
	}
	return out
}

// write returns the request with the given subject, in the form in which a suite has it.
func (r *request) write(subject *unstructured.Unstructured) (suite.Request, error) {
	out := suite.Request{SubResource: r.subresource, Resource: r.resource, Time: r.time}
	source := func(object *unstructured.Unstructured) (*suite.Manifest, error) {
		if object == nil {
			return nil, nil
		}
		text, err := object.MarshalJSON()
		return &suite.Manifest{Inline: text}, err
	}
	sent := r.send(subject)
	out.Name = sent.Name
	if r.operation == admission.Delete || r.operation == admission.Connect {
		out.Operation = string(r.operation)
	}
	var err error
	if out.Object, err = source(sent.Object); err != nil {
		return out, err
	}
	out.OldObject, err = source(sent.OldObject)
	return out, err
}
