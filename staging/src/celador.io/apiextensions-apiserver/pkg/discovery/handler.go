// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery"
)

// A Handler serves /apis/<group> and /apis/<group>/<version> for API groups of custom resources.
// Its methods are safe for concurrent use. A request does not wait while the documents of its group
// are replaced: it sees either all of the old or all of the new ones.
type Handler struct {
	codecs   runtime.NegotiatedSerializer
	delegate http.Handler
	groups   sync.Map // *servedGroup by name of the group
}

// A servedGroup holds the handlers of a group's documents. It does not change.
type servedGroup struct {
	documents *Group
	group     http.Handler
	versions  map[string]http.Handler
}

// NewHandler returns a handler without groups. delegate serves all requests for other paths, for
// unknown groups and for unknown versions. codecs encode metav1.APIGroup and
// metav1.APIResourceList.
func NewHandler(codecs runtime.NegotiatedSerializer, delegate http.Handler) *Handler {
	return &Handler{codecs: codecs, delegate: delegate}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h.handlerFor(req.URL.Path).ServeHTTP(w, req)
}

func (h *Handler) handlerFor(path string) http.Handler {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] != "apis" || len(parts) < 2 || len(parts) > 3 {
		return h.delegate
	}
	served, found := h.groups.Load(parts[1])
	if !found {
		return h.delegate
	}
	group := served.(*servedGroup)
	if len(parts) == 2 {
		return group.group
	}
	if version, found := group.versions[parts[2]]; found {
		return version
	}
	return h.delegate
}

// Replace replaces the documents of a group and returns the previous ones, or nil if the group was
// not served. If documents is nil, the group is not served any more.
func (h *Handler) Replace(name string, documents *Group) (previous *Group) {
	var replaced any
	if documents == nil {
		replaced, _ = h.groups.LoadAndDelete(name)
	} else {
		replaced, _ = h.groups.Swap(name, h.serve(documents))
	}
	if replaced == nil {
		return nil
	}
	return replaced.(*servedGroup).documents
}

func (h *Handler) serve(documents *Group) *servedGroup {
	served := &servedGroup{documents, discovery.NewAPIGroupHandler(h.codecs, documents.APIGroup), map[string]http.Handler{}}
	for name, version := range documents.Versions {
		resources := discovery.APIResourceListerFunc(func() []metav1.APIResource { return version.Resources })
		served.versions[name] = discovery.NewAPIVersionHandler(h.codecs, schema.GroupVersion{Group: documents.APIGroup.Name, Version: name}, resources)
	}
	return served
}
