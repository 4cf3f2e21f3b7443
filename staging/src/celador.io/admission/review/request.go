// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package review turns AdmissionReviews, with which API servers call webhooks, into admission
// requests, and results into AdmissionResponses.
package review

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/matching"
)

// A Request is the request of an AdmissionReview. GetObject and GetOldObject return
// *unstructured.Unstructured, or nil. GetKind and GetResource are those of these objects, which the
// API server may have converted. Not safe for concurrent use, except for AddAnnotation.
type Request struct {
	admission.Attributes
	request *admissionv1.AdmissionRequest
	// object is the object as the review has it, from which Response makes a patch. GetObject
	// returns a copy, which may be changed.
	object      *unstructured.Unstructured
	original    original
	annotations annotations
}

var _ matching.Converted = &Request{}

// FromReview returns the request of a review. It returns an error if the review is not of version
// v1 or has no request, and the errors of FromRequest. Answer such a review with HTTP status 400,
// to which the API server applies the failurePolicy of the webhook.
func FromReview(review *admissionv1.AdmissionReview) (*Request, error) {
	if got, want := review.GroupVersionKind(), admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"); got != want {
		return nil, fmt.Errorf("the review is of %q, not %q: list v1 first in admissionReviewVersions of the webhook", got, want)
	}
	if review.Request == nil {
		return nil, errors.New("the review has no request")
	}
	return FromRequest(review.Request)
}

// FromRequest returns the request of a review of version v1. It returns an error if the operation
// is unknown, or if an object or the options are neither absent nor a JSON object. Numbers without
// a fraction are int64 if they fit, and all others float64. The Request keeps r, which must not be
// changed afterwards.
func FromRequest(r *admissionv1.AdmissionRequest) (*Request, error) {
	operation := admission.Operation(r.Operation)
	switch operation {
	case admission.Create, admission.Update, admission.Delete, admission.Connect:
	default:
		return nil, fmt.Errorf("request.operation %q is none of CREATE, UPDATE, DELETE and CONNECT", operation)
	}
	object, err := decode("object", r.Object)
	if err != nil {
		return nil, err
	}
	oldObject, err := decode("oldObject", r.OldObject)
	if err != nil {
		return nil, err
	}
	options, err := decodeOptions(r.Options)
	if err != nil {
		return nil, err
	}
	request := &Request{
		Attributes: admission.NewAttributesRecord(asObject(object.DeepCopy()), asObject(oldObject), schema.GroupVersionKind(r.Kind),
			r.Namespace, r.Name, schema.GroupVersionResource(r.Resource), r.SubResource, operation, options,
			r.DryRun != nil && *r.DryRun, userInfo(r)),
		request: r,
		object:  object,
	}
	request.original = original{request, request.GetKind(), request.GetResource(), request.GetSubresource()}
	if r.RequestKind != nil {
		request.original.kind = schema.GroupVersionKind(*r.RequestKind)
	}
	if r.RequestResource != nil {
		request.original.resource, request.original.subresource = schema.GroupVersionResource(*r.RequestResource), r.RequestSubResource
	}
	return request, nil
}

func userInfo(r *admissionv1.AdmissionRequest) *user.DefaultInfo {
	extra := make(map[string][]string, len(r.UserInfo.Extra))
	for key, values := range r.UserInfo.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{Name: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups, Extra: extra}
}

// decode decodes the object in a field of the request. It returns nil if the field is absent.
func decode(field string, extension runtime.RawExtension) (*unstructured.Unstructured, error) {
	raw, err := extension.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("request.%s: %w", field, err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf("request.%s is not a JSON object: %w", field, err)
	}
	if content == nil {
		return nil, nil
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// asObject returns u, or a nil interface if u is nil. A plain conversion of a nil pointer would not
// be nil.
func asObject(u *unstructured.Unstructured) runtime.Object {
	if u == nil {
		return nil
	}
	return u
}

// decodeOptions returns CreateOptions, UpdateOptions and DeleteOptions as their Go types, and other
// kinds of options, which CONNECT requests have, as *unstructured.Unstructured.
func decodeOptions(extension runtime.RawExtension) (runtime.Object, error) {
	options, err := decode("options", extension)
	if options == nil || err != nil {
		return nil, err
	}
	var typed runtime.Object
	switch options.GroupVersionKind() {
	case metav1.SchemeGroupVersion.WithKind("CreateOptions"):
		typed = &metav1.CreateOptions{}
	case metav1.SchemeGroupVersion.WithKind("UpdateOptions"):
		typed = &metav1.UpdateOptions{}
	case metav1.SchemeGroupVersion.WithKind("DeleteOptions"):
		typed = &metav1.DeleteOptions{}
	default:
		return options, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(options.Object, typed); err != nil {
		return nil, fmt.Errorf("request.options: %w", err)
	}
	return typed, nil
}

// AdmissionRequest returns the request as the review has it. It must not be changed.
func (r *Request) AdmissionRequest() *admissionv1.AdmissionRequest { return r.request }

// Original implements matching.Converted.
func (r *Request) Original() admission.Attributes { return &r.original }

// original is a Request with the kind and the resource that the client requested.
type original struct {
	*Request
	kind        schema.GroupVersionKind
	resource    schema.GroupVersionResource
	subresource string
}

// GetKind implements admission.Attributes.
func (o *original) GetKind() schema.GroupVersionKind { return o.kind }

// GetResource implements admission.Attributes.
func (o *original) GetResource() schema.GroupVersionResource { return o.resource }

// GetSubresource implements admission.Attributes.
func (o *original) GetSubresource() string { return o.subresource }
