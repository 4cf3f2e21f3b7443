// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// call is an HTTP request to a resource.
type call struct {
	*resource
	method          string
	namespace, name string
	query           url.Values
	// body is encoded as JSON unless it is nil.
	body any
	user user.Info
}

// newCreate returns the call with which the administrator creates an object.
func newCreate(r *resource, namespace string, object *unstructured.Unstructured) *call {
	return &call{
		resource: r, method: http.MethodPost, namespace: namespace, body: object.Object, user: administrator,
		query: url.Values{"fieldValidation": {metav1.FieldValidationStrict}},
	}
}

// url returns the URL of the call without a host.
func (c *call) url() *url.URL {
	elements := []string{root(c.Group), c.Group, c.Version}
	if c.namespaced {
		elements = append(elements, "namespaces", c.namespace)
	}
	return &url.URL{Path: path.Join(append(elements, c.Resource, c.name, c.subresource)...), RawQuery: c.query.Encode()}
}

var requestInfos = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// serve returns the object with which the handlers of the resource answer the call, and the
// warnings to the client. The error is an *apierrors.StatusError if the handlers answer with one.
func (c *Cluster) serve(ctx context.Context, call *call) (object *unstructured.Unstructured, warnings []string, err error) {
	handler, err := call.handler(call.method)
	if err != nil {
		return nil, nil, err
	}
	var body []byte
	if call.body != nil {
		if body, err = json.Marshal(call.body); err != nil {
			return nil, nil, err
		}
	}
	r, err := http.NewRequestWithContext(request.WithUser(detach(ctx), call.user), call.method, call.url().String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", runtime.ContentTypeJSON)
	r.Header.Set("Accept", runtime.ContentTypeJSON)
	info, err := requestInfos.NewRequestInfo(r)
	if err != nil {
		return nil, nil, err
	}
	writer := &responseWriter{header: http.Header{}}
	if err := dispatch(filters.WithWarningRecorder(handler), writer, r.WithContext(request.WithRequestInfo(r.Context(), info))); err != nil {
		return nil, nil, err
	}
	received, errs := utilnet.ParseWarningHeaders(writer.header["Warning"])
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	for _, w := range received {
		warnings = append(warnings, w.Text)
	}
	object, err = writer.object()
	return object, warnings, err
}

// dispatch calls a handler, and turns a panic into an error.
func dispatch(handler http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%s %s: panic: %v\n%s", r.Method, r.URL, reason, debug.Stack())
		}
	}()
	handler.ServeHTTP(w, r)
	return nil
}

// responseWriter is an http.ResponseWriter in memory.
type responseWriter struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *responseWriter) Header() http.Header            { return r.header }
func (r *responseWriter) WriteHeader(code int)           { r.code = code }
func (r *responseWriter) Write(data []byte) (int, error) { return r.body.Write(data) }

// object returns the object in the response, or nil if it is a Status of success. It returns an
// *apierrors.StatusError for a Status of failure.
func (r *responseWriter) object() (*unstructured.Unstructured, error) {
	if r.body.Len() == 0 {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(r.body.Bytes()); err != nil {
		return nil, fmt.Errorf("response %d is not an object: %q", r.code, r.body.String())
	}
	if object.GetKind() != "Status" || object.GetAPIVersion() != "v1" {
		return object, nil
	}
	status := metav1.Status{}
	if err := json.Unmarshal(r.body.Bytes(), &status); err != nil {
		return nil, err
	}
	if status.Status == metav1.StatusSuccess {
		return nil, nil
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}
