// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/admission/review"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/polyfill/pkg/routing"
	"celador.io/polyfill/pkg/serving"
)

// validator is a plugin that handles creations.
type validator func(context.Context, admission.Attributes) error

func (validator) Handles(operation admission.Operation) bool { return operation == admission.Create }

func (v validator) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return v(ctx, a)
}

// mutator is a plugin that handles creations.
type mutator func(context.Context, admission.Attributes) error

func (mutator) Handles(operation admission.Operation) bool { return operation == admission.Create }

func (m mutator) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return m(ctx, a)
}

// limit is the policy at the path that the tests ask.
var (
	limit     = &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "limit"}}
	limitPath = routing.ValidatingRoute(limit).Path(limit.Name)
)

// serve returns the address of a server that answers by the policies.
func serve(t *testing.T, plugin admission.Interface, ready error) string {
	t.Helper()
	policies := &serving.Reviewer{
		Ready: func() error { return ready }, Plugin: plugin, Table: routing.NewTable(), Objects: review.Objects(),
	}
	policies.Table.Set(routing.Members{limitPath: {limit.Name}})
	server := httptest.NewServer(serving.NewHandler("validate", &serving.InFlightLimits{}, policies.Prepare, policies.Decide))
	t.Cleanup(server.Close)
	return server.URL + limitPath
}

const create = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "operation": "CREATE", "namespace": "shop",
	"kind": {"version": "v1", "kind": "ConfigMap"}, "resource": {"version": "v1", "resource": "configmaps"}, "object": {"kind": "ConfigMap"}}}`

// post returns the status code and the body of the answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestResponses(t *testing.T) {
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("no"))
	for name, test := range map[string]struct {
		plugin admission.Interface
		review string
		want   admissionv1.AdmissionResponse
	}{
		"allowed": {validator(func(context.Context, admission.Attributes) error { return nil }), create, admissionv1.AdmissionResponse{Allowed: true}},
		"denied":  {validator(func(context.Context, admission.Attributes) error { return denied }), create, admissionv1.AdmissionResponse{Result: &denied.ErrStatus}},
		"warned": {validator(func(ctx context.Context, _ admission.Attributes) error {
			warning.AddWarning(ctx, "", "one")
			warning.AddWarning(ctx, "", "two")
			return nil
		}), create, admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"one", "two"}}},
		"not handled": {validator(func(context.Context, admission.Attributes) error { return denied }), strings.Replace(create, "CREATE", "DELETE", 1),
			admissionv1.AdmissionResponse{Allowed: true}},
		"selected": {validator(func(ctx context.Context, _ admission.Attributes) error {
			if s := serving.Selected(ctx); !s.Has(limit.Name) || s.Has("other") {
				return denied
			}
			return nil
		}), create, admissionv1.AdmissionResponse{Allowed: true}},
		"mutated": {mutator(func(_ context.Context, a admission.Attributes) error {
			return unstructured.SetNestedField(a.GetObject().(*unstructured.Unstructured).Object, "v", "data", "k")
		}), create, admissionv1.AdmissionResponse{
			Allowed: true, PatchType: new(admissionv1.PatchTypeJSONPatch), Patch: []byte(`[{"op":"add","path":"/data","value":{"k":"v"}}]`),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, test.plugin, nil)
			code, body := post(t, url+"?timeout=10s", test.review)
			var got admissionv1.AdmissionReview
			if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK {
				t.Fatalf("got %d %s", code, body)
			}
			test.want.UID = "u"
			want := admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: &test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// What gets no answer is a failed call for the API server, which applies the failurePolicy.
func TestFailures(t *testing.T) {
	never := validator(func(context.Context, admission.Attributes) error { t.Error("the plugin was asked"); return nil })
	for name, test := range map[string]struct {
		review string
		ready  error
		code   int
		want   string
	}{
		"no JSON":          {"{", nil, http.StatusBadRequest, "cannot be decoded"},
		"another version":  {strings.Replace(create, "/v1", "/v1beta1", 1), nil, http.StatusBadRequest, "admission.k8s.io/v1beta1"},
		"no request":       {`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}`, nil, http.StatusBadRequest, "no request"},
		"object no object": {strings.Replace(create, `{"kind": "ConfigMap"}`, "1", 1), nil, http.StatusBadRequest, "request.object"},
		"too large":        {`"` + strings.Repeat("x", 9<<20), nil, http.StatusRequestEntityTooLarge, "more than 8388608 bytes: make the object smaller, or exclude it"},
		"not ready":        {create, errors.New("not yet"), http.StatusServiceUnavailable, "not yet"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, body := post(t, serve(t, never, test.ready), test.review); code != test.code || !strings.Contains(body, test.want) {
				t.Errorf("got %d %q, want %d with %q", code, body, test.code, test.want)
			}
		})
	}
}

// A path of which the replica knows no policies gets no answer, because policies may deny the
// request.
func TestUnknownPath(t *testing.T) {
	never := validator(func(context.Context, admission.Attributes) error { t.Error("the plugin was asked"); return nil })
	response, err := http.Post(serve(t, never, nil)+"x?timeout=20ms", "application/json", strings.NewReader(create))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	// API servers repeat the call, perhaps to a replica that knows the path.
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "1" || !strings.Contains(string(body), limitPath+"x") {
		t.Errorf("got %d with Retry-After %q and %s", response.StatusCode, response.Header.Get("Retry-After"), body)
	}
}

// A request whose time is over is not denied: the failurePolicy decides.
func TestTimeout(t *testing.T) {
	slow := validator(func(ctx context.Context, _ admission.Attributes) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if code, body := post(t, serve(t, slow, nil)+"?timeout=20ms", create); code != http.StatusGatewayTimeout {
		t.Errorf("got %d %s", code, body)
	}
}

// Policies end before the API server stops to wait.
func TestDeadline(t *testing.T) {
	url := serve(t, validator(func(ctx context.Context, _ admission.Attributes) error {
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left > time.Minute {
			return errors.New("late")
		}
		return nil
	}), nil)
	for timeout, want := range map[string]bool{"": false, "?timeout=10s": true, "?timeout=0s": false, "?timeout=100ms": true, "?timeout=x": false, "?timeout=1h": false} {
		if _, body := post(t, url+timeout, create); strings.Contains(body, `"allowed":true`) != want {
			t.Errorf("%q: got %s, want allowed %t", timeout, body, want)
		}
	}
}
