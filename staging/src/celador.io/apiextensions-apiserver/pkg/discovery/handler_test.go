// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"

	ours "celador.io/apiextensions-apiserver/pkg/discovery"
)

// The delegate answers with a status that no handler of discovery has.
var delegate = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

const (
	groupDocument   = `{"kind":"APIGroup","apiVersion":"v1","name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}` + "\n"
	versionDocument = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"foos","singularName":"foo","namespaced":false,"kind":"Foo","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["f"],"categories":["all"],"storageVersionHash":"4XyhoHMtUhg="}]}` + "\n"
)

func TestHandler(t *testing.T) {
	handler := ours.NewHandler(upstream.Codecs, delegate)
	documents := ours.NewGroup(group, []*definition{define("foos", group)})
	if previous := handler.Replace(group, documents); previous != nil {
		t.Errorf("replaced %v, want nothing", previous)
	}
	if previous := handler.Replace("other.example.com", nil); previous != nil {
		t.Errorf("removed %v, want nothing", previous)
	}

	// An empty want stands for the delegate.
	tests := map[string]string{
		"/apis/example.com":          groupDocument,
		"/apis/example.com/":         groupDocument,
		"//apis/example.com":         groupDocument,
		"/apis/example.com/v1":       versionDocument,
		"/apis/example.com/v1/":      versionDocument,
		"":                           "",
		"/":                          "",
		"/apis":                      "",
		"/apis/":                     "",
		"/apis//v1":                  "",
		"/apis/example.com//":        groupDocument,
		"/apis/example.com//v1":      "",
		"/apis/example.com/v2":       "",
		"/apis/other.example.com":    "",
		"/apis/other.example.com/v1": "",
		"/apis/example.com/v1/foos":  "",
		"/api/example.com/v1":        "",
		"/example.com/v1":            "",
	}
	for path, want := range tests {
		expect(t, handler, path, want)
	}

	replacement := ours.NewGroup(group, []*definition{define("foos", group, versions("v2 served stored"))})
	if previous := handler.Replace(group, replacement); previous != documents {
		t.Errorf("replaced %v, want %v", previous, documents)
	}
	expect(t, handler, "/apis/example.com/v1", "")
	if previous := handler.Replace(group, nil); previous != replacement {
		t.Errorf("removed %v, want %v", previous, replacement)
	}
	expect(t, handler, "/apis/example.com", "")
	expect(t, handler, "/apis/example.com/v2", "")
}

func expect(t *testing.T, handler http.Handler, path, want string) {
	t.Helper()
	code, got := get(handler, path, "application/json")
	if delegated := code == http.StatusTeapot; delegated != (want == "") || got != want {
		t.Errorf("path %q: status %d, body %s, want %s", path, code, got, want)
	}
}

func get(handler http.Handler, path, accept string) (code int, body string) {
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.URL.Path = path
	request.Header.Set("Accept", accept)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}
