// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"celador.io/admission/cel/values"
)

// ReceivedTime is the value of 'request.time' for all policies of one request. With the zero value,
// expressions that read 'request.time' fail. Not safe for concurrent use.
type ReceivedTime struct {
	ctx      context.Context
	received metav1.MicroTime
}

// NewReceivedTime returns the time at which the server received the request with the given context.
// If the context has no such time, it is the time of the first read.
func NewReceivedTime(ctx context.Context) ReceivedTime { return ReceivedTime{ctx: ctx} }

// exists reports whether expressions can read 'request.time'. t may be nil.
func (t *ReceivedTime) exists() bool { return t != nil && t.ctx != nil }

// get returns the time in UTC and in microseconds, like the requestReceivedTimestamp of an audit
// event.
func (t *ReceivedTime) get() metav1.MicroTime {
	if t.received.IsZero() {
		received, ok := request.ReceivedTimestampFrom(t.ctx)
		if !ok {
			received = time.Now()
		}
		t.received = metav1.NewMicroTime(received.UTC().Truncate(time.Microsecond))
	}
	return t.received
}

// A timedRequest is the Go form of 'request' with a time.
type timedRequest struct {
	*admissionv1.AdmissionRequest `json:",inline"`
	Time                          values.Timestamp `json:"time"`
}
