// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

// statusCodes are the HTTP status codes of the reasons that policies may state.
var statusCodes = map[metav1.StatusReason]int32{
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonForbidden:             http.StatusForbidden,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
}

// NewDenial returns the API error of a denied request, with the given reason and its status code.
// An empty reason means Invalid. The error names the resource that the client requested. The caller
// may change the error. If the API error cannot be made from the attributes of the request, denial
// is nil and err is the error to return instead.
func NewDenial(a admission.Attributes, cause error, reason metav1.StatusReason) (denial *apierrors.StatusError, err error) {
	if err := admission.NewForbidden(matching.Original(a), cause); !errors.As(err, &denial) {
		return nil, err
	}
	denial.ErrStatus.Reason = cmp.Or(reason, metav1.StatusReasonInvalid)
	denial.ErrStatus.Code = cmp.Or(statusCodes[denial.ErrStatus.Reason], http.StatusUnprocessableEntity)
	return denial, nil
}
