// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"

	"celador.io/admission/review"
)

// create returns a request to create the object.
func create(t testing.TB, object []byte) *review.Request {
	t.Helper()
	r, err := review.FromRequest(&admissionv1.AdmissionRequest{UID: "u1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDenial(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New("too big"))
	forbidden.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "cause"}}
	internal := apierrors.NewInternalError(errors.New("no luck"))
	for name, test := range map[string]struct {
		err  error
		want metav1.Status
	}{
		"API status":         {forbidden, forbidden.ErrStatus},
		"wrapped API status": {fmt.Errorf("denied: %w", forbidden), forbidden.ErrStatus},
		"other error":        {errors.New("no luck"), internal.ErrStatus},
	} {
		t.Run(name, func(t *testing.T) {
			r := create(t, []byte(`{"a":1}`))
			r.GetObject().(*unstructured.Unstructured).Object["a"] = int64(2)
			want := &admissionv1.AdmissionResponse{UID: "u1", Result: &test.want, Warnings: []string{"beware"}}
			if diff := cmp.Diff(want, r.Response(test.err, "beware")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPatch(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          string
	}{
		"equal":             {`{"a":{"b":[1,2.5,"x",null,true]}}`, `{"a":{"b":[1,2.5,"x",null,true]}}`, ``},
		"order of keys":     {`{"a":1,"b":2}`, `{"b":2,"a":1}`, ``},
		"added":             {`{}`, `{"b":[{}],"a":{}}`, `[{"op":"add","path":"/a","value":{}},{"op":"add","path":"/b","value":[{}]}]`},
		"removed":           {`{"b":1,"a":{"c":1,"d":null}}`, `{"a":{"c":1}}`, `[{"op":"remove","path":"/a/d"},{"op":"remove","path":"/b"}]`},
		"null":              {`{"a":1,"b":null}`, `{"a":null,"c":null,"b":1}`, `[{"op":"replace","path":"/a","value":null},{"op":"replace","path":"/b","value":1},{"op":"add","path":"/c","value":null}]`},
		"types":             {`{"a":{},"b":[],"c":""}`, `{"a":[],"b":{},"c":0}`, `[{"op":"replace","path":"/a","value":[]},{"op":"replace","path":"/b","value":{}},{"op":"replace","path":"/c","value":0}]`},
		"element of a list": {`{"a":[{"b":1},{"c":1}]}`, `{"a":[{"b":1},{"c":2}]}`, `[{"op":"replace","path":"/a","value":[{"b":1},{"c":2}]}]`},
		"characters":        {`{"a/b":{"~1":1}}`, `{"a/b":{"~1":"ü\n"},"":1}`, `[{"op":"add","path":"/","value":1},{"op":"replace","path":"/a~1b/~01","value":"ü\n"}]`},
		"large integer":     {`{"a":9007199254740992}`, `{"a":9007199254740993}`, `[{"op":"replace","path":"/a","value":9007199254740993}]`},
		"large integers elsewhere": {
			`{"a":{"x":9007199254740993},"b":[9223372036854775807]}`, `{"a":{"x":9007199254740993,"y":1},"b":[9223372036854775807,-9223372036854775808]}`,
			`[{"op":"add","path":"/a/y","value":1},{"op":"replace","path":"/b","value":[9223372036854775807,-9223372036854775808]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			response := roundTrip(t, []byte(test.before), []byte(test.after))
			if got := string(response.Patch); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if patched := response.PatchType != nil && *response.PatchType == admissionv1.PatchTypeJSONPatch; patched != (test.want != "") || !response.Allowed {
				t.Errorf("got %v", response)
			}
		})
	}
}

// A request without an object has no patch.
func TestDelete(t *testing.T) {
	r, err := review.FromRequest(&admissionv1.AdmissionRequest{UID: "u1", Operation: admissionv1.Delete, OldObject: runtime.RawExtension{Raw: []byte(`{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&admissionv1.AdmissionResponse{UID: "u1", Allowed: true}, r.Response(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestObjectThatCannotBeEncoded(t *testing.T) {
	r := create(t, []byte(`{"a":1}`))
	r.GetObject().(*unstructured.Unstructured).Object["a"] = math.NaN()
	response := r.Response(nil)
	if response.Allowed || response.PatchType != nil || response.Result.Code != http.StatusInternalServerError || !strings.Contains(response.Result.Message, "the changed object cannot be encoded") {
		t.Errorf("got %v", response)
	}
}

func TestAnnotations(t *testing.T) {
	long := strings.Repeat("long.", 20)
	r := create(t, nil)
	for _, annotation := range []struct {
		key   string
		level auditinternal.Level
		valid bool
	}{
		{"replicas.example.com/my_key", auditinternal.LevelMetadata, true},
		{long + "example.com/key", auditinternal.LevelMetadata, true},
		{"replicas.example.com/secret", auditinternal.LevelRequest, true},
		{"replicas.example.com/my_key", auditinternal.LevelRequest, false},
		{"key", auditinternal.LevelMetadata, false},
	} {
		add := func() error { return r.AddAnnotationWithLevel(annotation.key, "value", annotation.level) }
		if annotation.level == auditinternal.LevelMetadata {
			add = func() error { return r.AddAnnotation(annotation.key, "value") }
		}
		if err := add(); (err == nil) != annotation.valid {
			t.Errorf("%v: %v", annotation, err)
		}
	}
	const shortened = "2b660bf2-ong.long.long.long.long.long.long.long.example.com_key"
	want := map[string]string{"replicas.example.com_my_key": "value", shortened: "value"}
	for _, err := range []error{nil, errors.New("denied")} {
		if diff := cmp.Diff(want, r.Response(err).AuditAnnotations); diff != "" {
			t.Error(diff)
		}
	}
	// The API server adds its own prefix, and accepts what attributes accept.
	if err := create(t, nil).AddAnnotation("webhook.example.com/"+shortened, "value"); err != nil {
		t.Error(err)
	}
}

// roundTrip changes the object of a request from one JSON object to another, and fails the test
// unless the patch of the response does the same, as API servers apply it.
func roundTrip(t *testing.T, before, after []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	r := create(t, before)
	var changed map[string]any
	if err := utiljson.Unmarshal(after, &changed); err != nil {
		t.Fatal(err)
	}
	r.GetObject().(*unstructured.Unstructured).Object = changed
	response := r.Response(nil)
	patched := before
	if response.Patch != nil {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if patched, err = patch.Apply(before); err != nil {
			t.Fatalf("%s: %v", response.Patch, err)
		}
	}
	if diff := cmp.Diff(normalize(t, after), normalize(t, patched)); diff != "" {
		t.Errorf("patch %s makes another object of %s: %s", response.Patch, before, diff)
	}
	return response
}

// normalize decodes a JSON object. Numbers such as 1.0 become integers.
func normalize(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var content map[string]any
	for range 2 {
		content = nil
		if err := utiljson.Unmarshal(text, &content); err != nil {
			t.Fatal(err)
		}
		var err error
		if text, err = json.Marshal(content); err != nil {
			t.Fatal(err)
		}
	}
	return content
}

func FuzzPatch(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `{"a":1}`},
		{`{"a":{"b":[1,{"c":null}],"":{"~/":1.0}}}`, `{"a":{"b":[1,{"c":2}],"":{"~/":1e30}}}`},
		{`{"metadata":{"labels":{"a/b":"c"}},"n":9007199254740993}`, `{"metadata":{"labels":null},"n":9007199254740992.0}`},
		{`{"a":1,"a":{"b":2}}`, `{"a":{"b":"ü` + "\xff" + `"}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		for _, text := range [][]byte{before, after} {
			var content map[string]any
			if utiljson.Unmarshal(text, &content) != nil || content == nil {
				return
			}
		}
		roundTrip(t, before, after)
	})
}

// FuzzFromReview answers any review that servers decode.
func FuzzFromReview(f *testing.F) {
	f.Add([]byte(update))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CONNECT","options":{"kind":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		decoded := &admissionv1.AdmissionReview{}
		if json.Unmarshal(text, decoded) != nil {
			return
		}
		r, err := review.FromReview(decoded)
		if err != nil {
			return
		}
		r.Original()
		if response := r.Response(nil); !response.Allowed || response.Patch != nil || response.UID != decoded.Request.UID {
			t.Errorf("got %v", response)
		}
	})
}
