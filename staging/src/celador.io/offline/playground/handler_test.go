// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"celador.io/offline/playground"
)

const address = "127.0.0.1:10270"

// evaluate answers with the policy of the input. It panics if the policy is "panic", and is busy if
// it is "busy".
func evaluate(_ context.Context, input *playground.PageState) (*playground.Answer, error) {
	switch input.Panes.Policy {
	case "panic":
		panic("no luck")
	case "busy":
		return nil, playground.ErrBusy
	}
	return &playground.Answer{Reason: input.Panes.Policy}, nil
}

// serve returns the response to a request.
func serve(r *http.Request) *httptest.ResponseRecorder {
	examples := []playground.Example{{Name: "first", Title: "The first one"}}
	recorder := httptest.NewRecorder()
	playground.NewHandler(address, examples, evaluate).ServeHTTP(recorder, r)
	return recorder
}

func TestEvaluateOverHTTP(t *testing.T) {
	const body = `{"panes":{"policy":"p"}}`
	for _, test := range []struct {
		name, method, host, body string
		header                   map[string]string
		code                     int
		want                     string // a part of the response
	}{
		{name: "page", body: body, code: 200, want: `"reason":"p"`},
		{name: "localhost", host: "localhost:10270", body: body, code: 200, want: `"reason":"p"`},
		{name: "own origin", header: map[string]string{"Origin": "http://" + address}, body: body, code: 200},
		{name: "charset", header: map[string]string{"Content-Type": "application/json; charset=utf-8"}, body: body, code: 200},
		{name: "host in upper case", host: "LocalHost:10270", body: body, code: 200, want: `"reason":"p"`},
		{name: "other host", host: "evil.example.com:10270", body: body, code: 403, want: "open http://127.0.0.1:10270/ instead"},
		{name: "other port", host: "127.0.0.1:80", body: body, code: 403},
		{name: "host without port", host: "localhost", body: body, code: 403},
		{name: "other origin", header: map[string]string{"Origin": "http://evil.example.com"}, body: body, code: 403, want: `"message":"only the page`},
		{name: "no origin", header: map[string]string{"Origin": "null"}, body: body, code: 403},
		{name: "other site", header: map[string]string{"Sec-Fetch-Site": "cross-site"}, body: body, code: 403},
		{name: "form", header: map[string]string{"Content-Type": "text/plain"}, body: body, code: 415, want: "application/json"},
		{name: "other method", method: http.MethodGet, body: body, code: 405},
		{name: "no JSON", body: "{", code: 400, want: "not an input"},
		{name: "unknown pane", body: `{"panes":{"polcy":""}}`, code: 400, want: `unknown field \"polcy\"`},
		{name: "gate without value", body: `{"featureGates":{"A":"yes"}}`, code: 400},
		{name: "two values", body: body + body, code: 400, want: "more than one value"},
		{name: "too large", body: `{"panes":{"policy":"` + strings.Repeat("a", playground.MaxBody) + `"}}`, code: 413, want: "more than 1048576 bytes"},
		{name: "panic", body: `{"panes":{"policy":"panic"}}`, code: 500, want: "no luck"},
		{name: "busy", body: `{"panes":{"policy":"busy"}}`, code: 429, want: "busy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.method == "" {
				test.method = http.MethodPost
			}
			r := httptest.NewRequest(test.method, "/api/evaluate", strings.NewReader(test.body))
			r.Host = address
			if test.host != "" {
				r.Host = test.host
			}
			r.Header.Set("Content-Type", "application/json")
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			response := serve(r)
			if response.Code != test.code || !strings.Contains(response.Body.String(), test.want) {
				t.Errorf("%d %s, want %d with %q", response.Code, response.Body, test.code, test.want)
			}
			if test.code != 405 && !json.Valid(response.Body.Bytes()) {
				t.Errorf("no JSON: %s", response.Body)
			}
		})
	}
}

func TestFilesOfPage(t *testing.T) {
	for path, want := range map[string]struct {
		code              int
		contentType, text string
	}{
		"/":               {200, "text/html; charset=utf-8", "<html"},
		"/api/examples":   {200, "application/json", `[{"name":"first","title":"The first one","panes":{"policy":"",`},
		"/assets/missing": {404, "text/plain; charset=utf-8", ""},
		"/handler.go":     {404, "text/plain; charset=utf-8", ""},
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = address
		response := serve(r)
		if response.Code != want.code || response.Header().Get("Content-Type") != want.contentType || !strings.Contains(response.Body.String(), want.text) {
			t.Errorf("%s: %d %v %s", path, response.Code, response.Header(), response.Body)
		}
		for name, value := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			// The server of files removes Cache-Control from errors.
			if !strings.HasPrefix(response.Header().Get(name), value) && (want.code == 200 || name != "Cache-Control") {
				t.Errorf("%s: %s is %q", path, name, response.Header().Get(name))
			}
		}
	}
}
