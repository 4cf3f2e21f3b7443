// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// Response returns the response that denies the request with err, or admits it if err is nil. An
// error that is no API status becomes an internal error (500). An admitted request has a JSON patch
// if GetObject has changed since FromReview; API servers accept patches from mutating webhooks
// only. The audit annotations are those that were added to the request.
func (r *Request) Response(err error, warnings ...string) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{UID: r.request.UID, AuditAnnotations: r.annotations.all(), Warnings: warnings}
	if err == nil {
		response.Patch, err = r.patch()
	}
	if err != nil {
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			status = apierrors.NewInternalError(err)
		}
		result := status.Status()
		response.Result = &result
		return response
	}
	response.Allowed = true
	if response.Patch != nil {
		response.PatchType = new(admissionv1.PatchTypeJSONPatch)
	}
	return response
}

// patch returns the JSON patch from the object of the review to the object as it is now, or nil if
// they are equal.
func (r *Request) patch() ([]byte, error) {
	object, ok := r.GetObject().(*unstructured.Unstructured)
	if !ok {
		return nil, nil // the request has no object
	}
	operations := difference(r.object.Object, object.Object)
	if len(operations) == 0 {
		return nil, nil
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("the changed object cannot be encoded: %w", err)
	}
	return patch, nil
}
