// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api provides a fake API server for benchmarks of plugins. It answers requests from
// memory, in process, and its objects never change.
package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A Server answers discovery and list requests. Watches never return events. Objects are encoded
// when they are stored, so all clients read the same bytes. A Server is safe for concurrent use
// after the last call of Store and Describe.
type Server struct {
	answers   map[string][]byte
	resources map[schema.GroupVersion][]metav1.APIResource
	mapper    *meta.DefaultRESTMapper
}

// New returns a server without resources.
func New() *Server {
	return &Server{
		answers:   map[string][]byte{},
		resources: map[schema.GroupVersion][]metav1.APIResource{},
		mapper:    meta.NewDefaultRESTMapper(nil),
	}
}

// Store lets the server list the objects of a kind, under the same path whatever their namespaces
// are. It returns an error if an object cannot be encoded.
func Store[T any](s *Server, kind schema.GroupVersionKind, scope meta.RESTScope, objects []T) error {
	gv := kind.GroupVersion()
	resource, singular := meta.UnsafeGuessKindToResource(kind)
	if objects == nil {
		objects = []T{}
	}
	list, err := json.Marshal(map[string]any{
		"apiVersion": gv.String(), "kind": kind.Kind + "List",
		"metadata": map[string]string{"resourceVersion": "1"},
		"items":    objects,
	})
	if err != nil {
		return fmt.Errorf("objects of %s: %w", resource.Resource, err)
	}
	s.resources[gv] = append(s.resources[gv], metav1.APIResource{Name: resource.Resource, Kind: kind.Kind, Namespaced: scope == meta.RESTScopeNamespace, Verbs: metav1.Verbs{"list", "watch"}})
	discovery, err := json.Marshal(metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"},
		GroupVersion: gv.String(),
		APIResources: s.resources[gv],
	})
	if err != nil {
		return fmt.Errorf("discovery of %s: %w", resource.Resource, err)
	}
	root := "/apis/" + gv.String()
	if gv.Group == "" {
		root = "/api/" + gv.Version
	}
	s.answers[root], s.answers[root+"/"+resource.Resource] = discovery, list
	s.mapper.AddSpecific(kind, resource, singular, scope)
	return nil
}

// Config returns the configuration of a client, without a rate limit.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://memory", Transport: s, QPS: -1}
}

// RESTMapper returns a mapper for the served resources.
func (s *Server) RESTMapper() meta.RESTMapper { return s.mapper }

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, found := s.answers[r.URL.Path]
	query := r.URL.Query()
	switch {
	case !found:
		return respond(r, http.StatusNotFound, failure("the server could not find the requested resource", metav1.StatusReasonNotFound, http.StatusNotFound)), nil
	case query.Get("sendInitialEvents") == "true":
		// The request is for a watch that begins with a list. If it fails, clients send a list
		// request instead.
		return respond(r, http.StatusUnprocessableEntity, failure("watches have no initial events here", metav1.StatusReasonInvalid, http.StatusUnprocessableEntity)), nil
	case query.Get("watch") == "true":
		reader, writer := io.Pipe()
		go func() {
			<-r.Context().Done()
			writer.CloseWithError(r.Context().Err())
		}()
		return respond(r, http.StatusOK, reader), nil
	}
	return respond(r, http.StatusOK, io.NopCloser(bytes.NewReader(answer))), nil
}

func respond(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1, Request: r,
	}
}

func failure(message string, reason metav1.StatusReason, code int) io.ReadCloser {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Status","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	return io.NopCloser(bytes.NewReader([]byte(body)))
}
