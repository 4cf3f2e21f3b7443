// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package playground serves a page on which people try admission policies. The page sends the texts
// of its panes, and shows what an API server with these manifests would answer and how the
// expressions of the policies evaluate. Nothing is kept between requests.
package playground

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// assets holds the files of the page, which are built from the sources in web/.
//
//go:embed assets
var assets embed.FS

// MaxBody is the maximum size of an input as JSON, in bytes.
const MaxBody = 1 << 20

// contentSecurityPolicy allows the page to load only its own files. It also allows style elements,
// which the editor inserts.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// NewHandler returns the handler of the page and of its API. address is the host and port of the
// listener, which is on the loopback interface. The page begins with the first example. evaluate is
// called for each input, and must be safe for concurrent use.
//
// Pages of other sites cannot use the handler. It answers 403 to requests for other hosts, which
// DNS rebinding could cause, and to posts from other origins.
func NewHandler(address string, examples []Example, evaluate func(context.Context, *PageState) (*Answer, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "assets/index.html") })
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	mux.HandleFunc("GET /api/examples", func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK, examples) })
	mux.HandleFunc("POST /api/evaluate", func(w http.ResponseWriter, r *http.Request) {
		input, err := decode(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		answer, err := evaluate(r.Context(), input)
		if err != nil {
			refuse(w, err)
			return
		}
		respond(w, http.StatusOK, answer)
	})
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &requestError{http.StatusForbidden, "only the page itself may send inputs"})
	}))
	return guard(address, sameOrigin.Handler(mux))
}

// guard returns a handler that rejects requests for other hosts and answers panics with an error.
func guard(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	hosts := []string{address, net.JoinHostPort("localhost", port)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentSecurityPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		defer func() {
			if reason := recover(); reason != nil {
				refuse(w, &requestError{http.StatusInternalServerError, fmt.Sprintf("panic: %v\n%s", reason, debug.Stack())})
			}
		}()
		host := r.Host
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "80")
		}
		if !slices.Contains(hosts, strings.ToLower(host)) {
			refuse(w, &requestError{http.StatusForbidden, fmt.Sprintf("the host is %q: open http://%s/ instead", r.Host, address)})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// decode returns the input in the body of a request.
func decode(w http.ResponseWriter, r *http.Request) (*PageState, error) {
	if mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType != "application/json" {
		return nil, &requestError{http.StatusUnsupportedMediaType, "the Content-Type must be application/json"}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBody))
	decoder.DisallowUnknownFields()
	input := &PageState{}
	err := decoder.Decode(input)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return input, nil
		}
		if err == nil {
			err = errors.New("there is more than one value")
		}
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the panes have more than %d bytes", MaxBody)}
	}
	return nil, &requestError{http.StatusBadRequest, fmt.Sprintf("the body is not an input of the page: %v", err)}
}

// requestError is an error with the HTTP status code of its response.
type requestError struct {
	code    int
	message string
}

func (e *requestError) Error() string { return e.message }

// refuse responds with an error as JSON.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusServiceUnavailable // the client has gone, or the server stops
	var own *requestError
	switch {
	case errors.As(err, &own):
		code = own.code
	case errors.Is(err, ErrBusy):
		code = http.StatusTooManyRequests
	}
	respond(w, code, map[string]string{"message": err.Error()})
}

// respond writes a response as JSON. It ignores errors of the connection, because no client is left
// to hear of them.
func respond(w http.ResponseWriter, code int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // values of this package have a JSON form
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}
