// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusCodes are the HTTP status codes of the reasons that policies may state.
var statusCodes = map[metav1.StatusReason]int32{
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonForbidden:             http.StatusForbidden,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
}

// StatusCode returns the code of a response with the given reason.
func StatusCode(reason metav1.StatusReason) int32 {
	if code, ok := statusCodes[reason]; ok {
		return code
	}
	return http.StatusUnprocessableEntity
}
