// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

const notReadyBody = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/x failed: not finished\nreadyz check failed\n"

func TestAwaitReady(t *testing.T) {
	// The server responds to each path with its statuses in order, and repeats the last.
	answers := map[string][]int{
		"/readyz":                    {500, 500, 200},
		"/api/v1/namespaces/default": {403, 404, 200},
	}
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		statuses := answers[r.URL.Path]
		w.WriteHeader(statuses[0])
		if len(statuses) > 1 {
			answers[r.URL.Path] = statuses[1:]
		}
	}))
	defer server.Close()

	answered := 0
	if err := awaitReady(t.Context(), &rest.Config{Host: server.URL}, func() { answered++ }); err != nil {
		t.Fatal(err)
	}
	if answered != 1 {
		t.Errorf("answered was called %d times", answered)
	}
	// Two failures of /readyz, then three rounds of both paths.
	if got := requests.Load(); got != 8 {
		t.Errorf("ready after %d requests, want 8", got)
	}
}

func TestAwaitReadyReportsLastFailure(t *testing.T) {
	outOfTime := errors.New("time is up")
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{{
		name: "failed checks",
		answer: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, notReadyBody)
		},
		want: "/readyz answered 500, waiting for etcd, poststarthook/x",
	}, {
		name: "no default namespace",
		answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				w.WriteHeader(http.StatusNotFound)
			}
		},
		want: "/api/v1/namespaces/default answered 404",
	}} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			var rounds atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				test.answer(w, r)
				// By the third round, awaitReady has read the responses of the first.
				if r.URL.Path == "/readyz" && rounds.Add(1) == 3 {
					cancel(outOfTime)
				}
			}))
			defer server.Close()
			err := awaitReady(ctx, &rest.Config{Host: server.URL}, nil)
			if !errors.Is(err, outOfTime) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}
