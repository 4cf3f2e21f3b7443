// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
)

func newHandler(f *fixture) *handler {
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	return &handler{lister: f.lister, resources: f.resources, discovery: answer("discovery"), delegate: answer("delegate"), admission: admission.NewHandler()}
}

var requestInfos = request.RequestInfoFactory{APIPrefixes: sets.NewString("apis")}

// serve returns the response and the warnings. The request is DELETE for a path that begins with
// "DELETE ".
func serve(t *testing.T, h http.Handler, path string) (*httptest.ResponseRecorder, []string) {
	t.Helper()
	method := http.MethodGet
	if rest, ok := strings.CutPrefix(path, "DELETE "); ok {
		method, path = http.MethodDelete, rest
	}
	req := httptest.NewRequest(method, path, nil)
	info, err := requestInfos.NewRequestInfo(req)
	if err != nil {
		t.Fatal(err)
	}
	warnings := &warningRecorder{}
	ctx := warning.WithWarningRecorder(request.WithRequestInfo(req.Context(), info), warnings)
	response := httptest.NewRecorder()
	h.ServeHTTP(response, req.WithContext(ctx))
	return response, warnings.texts
}

type warningRecorder struct{ texts []string }

func (w *warningRecorder) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// TestDelegation covers the reasons for which a request is not for a custom resource, and those for
// which it is but cannot be served.
func TestDelegation(t *testing.T) {
	const object = "/apis/example.com/v1/namespaces/ns/widgets/w"
	set := func(condition apiextensionsv1.CustomResourceDefinitionConditionType, status apiextensionsv1.ConditionStatus) func(*apiextensionsv1.CustomResourceDefinition) {
		return func(crd *apiextensionsv1.CustomResourceDefinition) {
			apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{Type: condition, Status: status})
		}
	}
	cluster := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped }
	// The fixture's storages hold nothing and cannot be read, so that requests that reach one are
	// those for an unknown verb or subresource.
	const served = `"code":405`
	for name, test := range map[string]struct {
		change func(*apiextensionsv1.CustomResourceDefinition)
		path   string
		want   string
	}{
		"group":                         {path: "/apis/example.com", want: "discovery"},
		"version":                       {path: "/apis/example.com/v1", want: "discovery"},
		"another path":                  {path: "/apis", want: "discovery"},
		"another resource":              {path: "/apis/example.com/v1/gadgets", want: "delegate"},
		"another group":                 {path: "/apis/example.org/v1/widgets", want: "delegate"},
		"no namespace":                  {path: "/apis/example.com/v1/widgets/w", want: "delegate"},
		"namespace of cluster resource": {change: cluster, path: object, want: "delegate"},
		"unknown version":               {path: "/apis/example.com/v3/namespaces/ns/widgets/w", want: "delegate"},
		"unserved version": {
			change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false },
			path:   object, want: "delegate",
		},
		"neither accepted nor established": {
			change: func(crd *apiextensionsv1.CustomResourceDefinition) {
				set(apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse)(crd)
				set(apiextensionsv1.Established, apiextensionsv1.ConditionFalse)(crd)
			},
			path: object, want: "delegate",
		},
		"established only":    {change: set(apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse), path: "DELETE " + object + "/status", want: served},
		"accepted only":       {change: set(apiextensionsv1.Established, apiextensionsv1.ConditionFalse), path: "DELETE " + object + "/status", want: served},
		"verb of subresource": {path: "DELETE " + object + "/scale", want: served},
		"unknown subresource": {path: object + "/log", want: `widgets.example.com \"w\" not found`},
		"missing subresource": {path: "/apis/example.com/v2/namespaces/ns/widgets/w/status", want: `widgets.example.com \"w\" not found`},
		"cannot be built": {
			change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.Kind = "" },
			path:   object, want: "Internal error occurred: error resolving resource",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			crd := crdtest.New(crdtest.Stored(crdtest.WithSubresources(crdtest.Version("v1", nil))), crdtest.Version("v2", nil))
			if test.change != nil {
				test.change(crd)
			}
			f.set(crd)
			response, _ := serve(t, newHandler(f), test.path)
			if body := response.Body.String(); !strings.Contains(body, test.want) {
				t.Errorf("got %d %s, want %s", response.Code, body, test.want)
			}
			// Whatever the answer was, the request no longer keeps the storage.
			f.destroy()
			if f.storage.Open() != 0 {
				t.Errorf("%d storages are open", f.storage.Open())
			}
		})
	}
}

func TestRequestWithoutInfo(t *testing.T) {
	response := httptest.NewRecorder()
	newHandler(newFixture(t)).ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/apis/example.com/v1", nil))
	if response.Code != http.StatusInternalServerError {
		t.Errorf("got %d %s", response.Code, response.Body)
	}
}

func TestDeprecationWarnings(t *testing.T) {
	f := newFixture(t)
	v1 := crdtest.Stored(crdtest.Version("v1", nil))
	v1.Deprecated, v1.DeprecationWarning = true, new("move on")
	f.set(crdtest.New(v1, crdtest.Version("v2", nil)))
	for version, want := range map[string]string{"v1": "move on", "v2": ""} {
		_, warnings := serve(t, newHandler(f), "/apis/example.com/"+version+"/namespaces/ns/widgets/w/log")
		if got := strings.Join(warnings, ", "); got != want {
			t.Errorf("%s: got warnings %q, want %q", version, got, want)
		}
	}
}

// TestRetiredWhileFound covers a request that has found a Resource and is held up until it is
// retired and drained: it takes the new one instead of failing.
func TestRetiredWhileFound(t *testing.T) {
	f := newFixture(t)
	t.Cleanup(f.destroy)
	old := f.set(widgets())
	resource := f.mustGet(t, old)
	if err := resource.Drain(time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	looks := 0
	h := newHandler(f)
	h.lister = countingLister{h.lister, func() {
		if looks++; looks == 2 {
			f.set(crdtest.Updated(old, storeV2))
		}
	}}
	info := &request.RequestInfo{IsResourceRequest: true, APIGroup: "example.com", APIVersion: "v1", Resource: "widgets", Namespace: "ns", Verb: "get"}
	_, found, err := h.find(t.Context(), info)
	if err != nil || found == nil || found == resource || looks != 2 {
		t.Fatalf("got %p and error %v after %d looks, want another Resource than %p after 2", found, err, looks, resource)
	}
	found.Release()

	// Watches are not waited for, so they do not acquire the Resource.
	info.Verb = "watch"
	_, found, _ = h.find(t.Context(), info)
	if err := found.Drain(time.Minute, nil); err != nil {
		t.Errorf("a watch keeps the Resource: %v", err)
	}
}

// TestReplacedWhileFound covers a CustomResourceDefinition that is deleted and created again
// between the steps of a request.
func TestReplacedWhileFound(t *testing.T) {
	f := newFixture(t)
	t.Cleanup(f.destroy)
	f.set(widgets())
	replacement := widgets()
	replacement.UID = "replacement"
	looks := 0
	h := newHandler(f)
	f.lister = countingLister{f.lister, func() {
		if looks++; looks == 1 {
			f.set(replacement)
		}
	}}
	info := &request.RequestInfo{IsResourceRequest: true, APIGroup: "example.com", APIVersion: "v1", Resource: "widgets", Namespace: "ns", Verb: "get"}
	_, found, err := h.find(t.Context(), info)
	if err != nil || found == nil || !found.Current(replacement, f.expressions.Of) {
		t.Fatalf("got %p and error %v, want the Resource of the new CustomResourceDefinition", found, err)
	}
	found.Release()
}

// countingLister calls a function before each Get.
type countingLister struct {
	listers.CustomResourceDefinitionLister
	get func()
}

func (l countingLister) Get(name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	l.get()
	return l.CustomResourceDefinitionLister.Get(name)
}

// TestFindErrors covers a Resource that cannot be built.
func TestFindErrors(t *testing.T) {
	f := newFixture(t)
	f.set(widgets())
	f.building = func(*apiextensionsv1.CustomResourceDefinition) error { return errors.New("no connection") }
	info := &request.RequestInfo{IsResourceRequest: true, APIGroup: "example.com", APIVersion: "v1", Resource: "widgets", Namespace: "ns", Verb: "get"}
	if _, _, err := newHandler(f).find(t.Context(), info); err == nil || err.Error() != "no connection" {
		t.Errorf("got error %v", err)
	}
}

func TestAwaitEstablished(t *testing.T) {
	for name, test := range map[string]struct {
		since     time.Duration // negative: never
		cancelled bool
		want      time.Duration
	}{
		"just now":      {since: time.Second, want: 2 * time.Second},
		"long ago":      {since: 2 * time.Second},
		"never":         {since: -1},
		"request ended": {since: time.Second, cancelled: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crd := widgets()
				crd.Status.Conditions = nil
				if test.since >= 0 {
					crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{
						Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-test.since)),
					}}
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancelled {
					cancel()
				}
				start := time.Now()
				awaitEstablished(ctx, crd)
				if got := time.Since(start); got != test.want {
					t.Errorf("waited %s, want %s", got, test.want)
				}
			})
		})
	}
}
