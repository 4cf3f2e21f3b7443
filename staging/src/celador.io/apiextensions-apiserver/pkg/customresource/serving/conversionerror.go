// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// causeTypeConversion is the type of the cause in the status of a failed conversion.
const causeTypeConversion metav1.CauseType = "ConversionFailed"

// conversionFailed returns the API error for a failed conversion. Its code is 500, like that of a
// failed conversion webhook. The server does not log API errors, but the audit log contains them as
// the status of the response.
func conversionFailed(in *unstructured.Unstructured, to string, err error) error {
	failure := asConversionError(in, to, err)
	cause := metav1.StatusCause{Type: causeTypeConversion, Message: failure.Err.Error()}
	if failure.Rule != nil {
		cause.Field = failure.Rule.String()
	}
	gvk := in.GroupVersionKind()
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: failure.Error(),
		Details: &metav1.StatusDetails{Group: gvk.Group, Kind: gvk.Kind, Name: in.GetName(), UID: in.GetUID(), Causes: []metav1.StatusCause{cause}},
	}}
}

// asConversionError returns the *conversion.Error in err. If there is none, the error comes from
// coercing the result, whose metadata may be malformed, and asConversionError wraps it.
func asConversionError(in *unstructured.Unstructured, to string, err error) *conversion.Error {
	var failure *conversion.Error
	if errors.As(err, &failure) {
		return failure
	}
	return &conversion.Error{
		Reason: conversion.ReasonMetadata,
		Kind:   in.GetKind(), Namespace: in.GetNamespace(), Name: in.GetName(),
		From: in.GroupVersionKind().Version, To: to, Err: err,
	}
}
