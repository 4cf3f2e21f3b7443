// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/matching"
	"celador.io/admission/review"
)

// update is the review of a client's update of an Event of events.k8s.io, for a webhook whose rules
// name core/v1.
const update = `{
	"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
	"request": {
		"uid": "u1", "operation": "UPDATE", "name": "started", "namespace": "blue", "dryRun": true,
		"kind": {"group": "", "version": "v1", "kind": "Event"},
		"resource": {"group": "", "version": "v1", "resource": "events"}, "subResource": "status",
		"requestKind": {"group": "events.k8s.io", "version": "v1", "kind": "Event"},
		"requestResource": {"group": "events.k8s.io", "version": "v1", "resource": "events"}, "requestSubResource": "status",
		"userInfo": {"username": "jane", "uid": "7", "groups": ["dev"], "extra": {"scopes": ["a", "b"]}},
		"object": {"apiVersion": "v1", "kind": "Event", "count": 9007199254740993, "ratio": 1.5},
		"oldObject": {"apiVersion": "v1", "kind": "Event"},
		"options": {"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions", "fieldManager": "kubectl"}
	}
}`

// parse decodes a review as servers do.
func parse(t *testing.T, text string) *admissionv1.AdmissionReview {
	t.Helper()
	r := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// attributes are the parts of a request that expressions read.
type attributes struct {
	Kind, OriginalKind               schema.GroupVersionKind
	Resource, OriginalResource       schema.GroupVersionResource
	Subresource, OriginalSubresource string
	Name, Namespace                  string
	Operation                        admission.Operation
	DryRun                           bool
	User                             user.Info
	Object, OldObject, Options       runtime.Object
}

func attributesOf(r *review.Request) attributes {
	original := matching.Original(r)
	return attributes{
		r.GetKind(), original.GetKind(), r.GetResource(), original.GetResource(), r.GetSubresource(), original.GetSubresource(),
		r.GetName(), r.GetNamespace(), r.GetOperation(), r.IsDryRun(), r.GetUserInfo(),
		r.GetObject(), r.GetOldObject(), r.GetOperationOptions(),
	}
}

func TestFromReview(t *testing.T) {
	r, err := review.FromReview(parse(t, update))
	if err != nil {
		t.Fatal(err)
	}
	current, requested := corev1.SchemeGroupVersion, schema.GroupVersion{Group: "events.k8s.io", Version: "v1"}
	want := attributes{
		Kind: current.WithKind("Event"), OriginalKind: requested.WithKind("Event"),
		Resource: current.WithResource("events"), OriginalResource: requested.WithResource("events"),
		Subresource: "status", OriginalSubresource: "status",
		Name: "started", Namespace: "blue", Operation: admission.Update, DryRun: true,
		User:      &user.DefaultInfo{Name: "jane", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"a", "b"}}},
		Object:    &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Event", "count": int64(9007199254740993), "ratio": 1.5}},
		OldObject: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Event"}},
		Options: &metav1.UpdateOptions{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}, FieldManager: "kubectl",
		},
	}
	if diff := cmp.Diff(want, attributesOf(r)); diff != "" {
		t.Error(diff)
	}
}

// Requests without optional fields, and with options of other kinds.
func TestFromRequest(t *testing.T) {
	kind, resource := corev1.SchemeGroupVersion.WithKind("PodExecOptions"), corev1.SchemeGroupVersion.WithResource("pods")
	options := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "PodExecOptions", "command": nil, "stdin": true}}
	r, err := review.FromRequest(&admissionv1.AdmissionRequest{
		Operation: admissionv1.Connect, Kind: metav1.GroupVersionKind(kind), Resource: metav1.GroupVersionResource(resource), SubResource: "exec",
		UserInfo: authenticationv1.UserInfo{Username: "jane"},
		Object:   runtime.RawExtension{Object: &corev1.PodExecOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodExecOptions"}, Stdin: true}},
		Options:  runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"PodExecOptions","command":null,"stdin":true}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := attributes{
		Kind: kind, OriginalKind: kind, Resource: resource, OriginalResource: resource, Subresource: "exec", OriginalSubresource: "exec",
		Operation: admission.Connect, User: &user.DefaultInfo{Name: "jane", Extra: map[string][]string{}}, Object: options, Options: options,
	}
	if diff := cmp.Diff(want, attributesOf(r)); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidReviews(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(update, old) {
			t.Fatalf("the review does not contain %s", old)
		}
		return strings.Replace(update, old, new, 1)
	}
	const object, options = `{"apiVersion": "v1", "kind": "Event", "count": 9007199254740993, "ratio": 1.5}`, `"kubectl"`
	for name, test := range map[string]struct{ review, want string }{
		"other version": {
			replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
			`the review is of "admission.k8s.io/v1beta1, Kind=AdmissionReview", not "admission.k8s.io/v1, Kind=AdmissionReview": list v1 first in admissionReviewVersions of the webhook`,
		},
		"other kind": {
			`{"apiVersion": "v1", "kind": "Pod"}`,
			`the review is of "/v1, Kind=Pod", not "admission.k8s.io/v1, Kind=AdmissionReview": list v1 first in admissionReviewVersions of the webhook`,
		},
		"no request":         {`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}`, `the review has no request`},
		"empty request":      {`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}}`, `request.operation "" is none of CREATE, UPDATE, DELETE and CONNECT`},
		"unknown operation":  {replace("UPDATE", "PATCH"), `request.operation "PATCH" is none of CREATE, UPDATE, DELETE and CONNECT`},
		"object is a list":   {replace(object, `[]`), `request.object is not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}`},
		"object is a text":   {replace(object, `"x"`), `request.object is not a JSON object: json: cannot unmarshal string into Go value of type map[string]interface {}`},
		"oversized number":   {replace("1.5", "1e400"), `request.object is not a JSON object: json: cannot unmarshal number 1e400 into Go value of type float64`},
		"old object":         {replace(`"oldObject": {"apiVersion": "v1", "kind": "Event"}`, `"oldObject": 1`), `request.oldObject is not a JSON object: json: cannot unmarshal number into Go value of type map[string]interface {}`},
		"options of a type":  {replace(options, `1`), `request.options: cannot convert int64 to string`},
		"options are a list": {replace(`{"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions", "fieldManager": "kubectl"}`, `[]`), `request.options is not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := review.FromReview(parse(t, test.review))
			if err == nil || err.Error() != test.want || r != nil {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	// Servers do not decode a review whose objects are no JSON. Programs can build one.
	request := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"a":`)}}
	if _, err := review.FromRequest(request); err == nil || err.Error() != "request.object is not a JSON object: unexpected end of JSON input" {
		t.Errorf("got %v", err)
	}
}
