// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Answer is what a webhook has to say about a request. The UID is filled in.
type Answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Allow lets everything pass.
func Allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Deny returns an answer that refuses everything with the message.
func Deny(message string) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message, Code: http.StatusForbidden}}
	}
}

// Patch returns an answer that lets everything pass with a change, a JSON patch.
func Patch(patch string) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: new(admissionv1.PatchTypeJSONPatch)}
	}
}

// Call is a request to a webhook.
type Call struct {
	// Webhook is the name that ClientConfig was given.
	Webhook string
	// Review is what it was asked about.
	Review *admissionv1.AdmissionReview
}

// Admission is an endpoint for any number of admission webhooks.
type Admission struct {
	*Endpoint

	lock  sync.Mutex
	calls []Call
}

// Admit runs an endpoint that answers to admission reviews until the end of the test.
func Admit(t testing.TB, answer Answer) *Admission {
	a := &Admission{}
	a.Endpoint = Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.lock.Lock()
		a.calls = append(a.calls, Call{strings.TrimPrefix(r.URL.Path, "/"), review})
		a.lock.Unlock()

		response := answer(review.Request)
		response.UID = review.Request.UID
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response}); err != nil {
			t.Errorf("answering to %s: %v", r.URL.Path, err)
		}
	}))
	return a
}

// ClientConfig returns how a control plane reaches the webhook of that name.
func (a *Admission) ClientConfig(webhook string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: new(a.URL + "/" + webhook), CABundle: a.CABundle}
}

// Take returns the calls since the last time, in the order in which they arrived. Safe for
// concurrent use.
func (a *Admission) Take() []Call {
	a.lock.Lock()
	defer a.lock.Unlock()
	taken := a.calls
	a.calls = nil
	return taken
}
