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

// An Answer is a function that returns a webhook's response to a request. The server that calls it
// sets the UID of the response.
type Answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Allow allows every request.
func Allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Deny returns an answer that denies every request with the message.
func Deny(message string) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message, Code: http.StatusForbidden}}
	}
}

// Patch returns an answer that allows every request with a JSON patch.
func Patch(patch string) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: new(admissionv1.PatchTypeJSONPatch)}
	}
}

// A Call is a call of a webhook.
type Call struct {
	// Webhook is the name that was passed to ClientConfig.
	Webhook string
	// Review is the received review.
	Review *admissionv1.AdmissionReview
}

// Admission is an HTTPS endpoint of any number of admission webhooks.
type Admission struct {
	*Endpoint

	lock  sync.Mutex
	calls []Call
}

// Admit runs an HTTPS server until the end of the test. It answers the reviews for all of its
// webhooks with answer, and records them.
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

// ClientConfig returns the client configuration of the named webhook.
func (a *Admission) ClientConfig(webhook string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: new(a.URL + "/" + webhook), CABundle: a.CABundle}
}

// Take returns and forgets the calls so far, in the order in which they arrived. It is safe for
// concurrent use.
func (a *Admission) Take() []Call {
	a.lock.Lock()
	defer a.lock.Unlock()
	taken := a.calls
	a.calls = nil
	return taken
}
