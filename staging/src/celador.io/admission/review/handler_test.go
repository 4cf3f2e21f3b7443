// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	endpoints "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"celador.io/admission/review"
)

// client returns the client with which API servers call the webhook at an address.
func client(t *testing.T, server *httptest.Server) *rest.RESTClient {
	t.Helper()
	manager, err := webhook.NewClientManager([]schema.GroupVersion{admissionv1.SchemeGroupVersion}, admissionv1.AddToScheme)
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := webhook.NewDefaultAuthenticationInfoResolver("")
	if err != nil {
		t.Fatal(err)
	}
	manager.SetAuthenticationInfoResolver(resolver)
	manager.SetServiceResolver(webhook.NewDefaultServiceResolver())
	c, err := manager.HookClient(webhook.ClientConfig{
		Name: "policies.example.com", URL: server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHandler(t *testing.T) {
	server := httptest.NewTLSServer(review.Handler(func(ctx context.Context, r *review.Request) *admissionv1.AdmissionResponse {
		if _, timed := endpoints.ReceivedTimestampFrom(ctx); !timed || ctx.Err() != nil || r.GetName() != "started" {
			return r.Response(apierrors.NewBadRequest("bad"))
		}
		return r.Response(nil, "beware")
	}))
	t.Cleanup(server.Close)
	c := client(t, server)
	for name, test := range map[string]struct {
		body     string
		response *admissionv1.AdmissionResponse
		code     int32
		message  string
	}{
		"admitted": {body: update, response: &admissionv1.AdmissionResponse{UID: "u1", Allowed: true, Warnings: []string{"beware"}}},
		"denied": {
			body: strings.Replace(update, "started", "stopped", 1),
			response: &admissionv1.AdmissionResponse{UID: "u1", Result: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: "bad",
			}},
		},
		"no JSON":       {body: "x", code: http.StatusBadRequest, message: "the review cannot be decoded: invalid character 'x' looking for beginning of value"},
		"empty":         {body: " ", code: http.StatusBadRequest, message: "the review cannot be decoded: unexpected end of JSON input"},
		"no request":    {body: `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}`, code: http.StatusBadRequest, message: "the review has no request"},
		"other version": {body: strings.Replace(update, "io/v1", "io/v1beta1", 1), code: http.StatusBadRequest, message: `the review is of "admission.k8s.io/v1beta1, Kind=AdmissionReview", not "admission.k8s.io/v1, Kind=AdmissionReview": list v1 first in admissionReviewVersions of the webhook`},
		"oversized":     {body: update + strings.Repeat(" ", 8<<20), code: http.StatusRequestEntityTooLarge, message: "Request entity too large: the review of the object has more than 8388608 bytes: make the object smaller, or exclude it by a namespaceSelector or an objectSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := &admissionv1.AdmissionReview{}
			err := c.Post().Body([]byte(test.body)).Do(t.Context()).Into(answer)
			if test.code == 0 {
				want := &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: test.response}
				if diff := cmp.Diff(want, answer); diff != "" || err != nil {
					t.Errorf("%v\n%s", err, diff)
				}
				return
			}
			var status *apierrors.StatusError
			if !errors.As(err, &status) || status.ErrStatus.Code != test.code || status.ErrStatus.Message != test.message {
				t.Errorf("got %v, want %d %s", err, test.code, test.message)
			}
		})
	}
}
