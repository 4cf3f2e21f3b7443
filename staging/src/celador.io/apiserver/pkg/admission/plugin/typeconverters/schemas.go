// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typeconverters provides the schemas of all kinds that a server serves, to merge apply
// configurations with, or to find the values of a type in objects. It reads the server's OpenAPI
// documents when a request first needs them, and again when they change.
package typeconverters

import (
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/openapi"

	"celador.io/admission/modelschema"
	"celador.io/admission/mutating"
	"celador.io/admission/policy"
)

const (
	// maxPublishWait is the time that a request waits for a kind to be published. A custom resource
	// may be served for a second before its schema is published.
	maxPublishWait = 2500 * time.Millisecond
	// maxReadWait is how long a request waits at most if a document must be read. If the document
	// has changed and its previous state has the kind, requests wait only until maxReadWait after
	// the change was noticed, and then use the previous state.
	maxReadWait = 5 * time.Second
)

// content is what the types of a document consist of.
type content int

const (
	converters content = iota
	schemas
)

// PublishedSchemas holds the schemas that a server publishes as OpenAPI. It implements
// mutating.TypeConverters if New made it, and policy.Schemas if NewSchemas did. It is safe for
// concurrent use.
type PublishedSchemas struct {
	client  openapi.ClientWithContext
	builtIn func(schema.GroupVersion) bool
	want    content

	snapshot atomic.Pointer[snapshot]
	// missingVersions holds the group versions for which requests have asked and that the server
	// does not publish.
	missingVersions missing
	// pollRequested has an element if a request waits for the next poll.
	pollRequested chan struct{}
	stopped       chan struct{}
}

var (
	_ mutating.TypeConverters = &PublishedSchemas{}
	_ policy.Schemas          = &PublishedSchemas{}
)

// New returns converters that read the OpenAPI documents of a server once Run is called. builtIn
// reports whether a group version is built in, so that no kinds are added to it while the server
// runs; it must be safe for concurrent use.
func New(client openapi.Client, builtIn func(schema.GroupVersion) bool) *PublishedSchemas {
	s := &PublishedSchemas{
		client:        openapi.ToClientWithContext(client),
		builtIn:       builtIn,
		pollRequested: make(chan struct{}, 1),
		stopped:       make(chan struct{}),
	}
	s.snapshot.Store(newSnapshot(nil))
	return s
}

// NewSchemas is like New, for callers of Schema instead of GetTypeConverter.
func NewSchemas(client openapi.Client, builtIn func(schema.GroupVersion) bool) *PublishedSchemas {
	s := New(client, builtIn)
	s.want = schemas
	return s
}

// Schema implements policy.Schemas. It waits as GetTypeConverter does.
func (s *PublishedSchemas) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	types := s.types(kind)
	if !types.has(kind.Kind) {
		return nil, errors.New("the server does not publish it in its OpenAPI documents, or they cannot be read")
	}
	return types.schemas[kind.Kind], nil
}

// GetTypeConverter implements mutating.TypeConverters.
//
// If the document of the group version has not been read, it waits for that, for maxReadWait at
// most. If the document does not have the kind, it waits until the kind is published, for
// maxPublishWait at most. Later requests for such a kind do not wait until the document changes.
//
// If the group version is published without the kind, the returned converter lacks the kind. While
// a changed document cannot be read, the converter is that of its previous state. GetTypeConverter
// returns nil if the group version is not published, if its document could not be read, or if Run
// ended before it was read.
func (s *PublishedSchemas) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	types := s.types(kind)
	if types == nil {
		return nil
	}
	return types.converter
}

// types returns the types of the group version of a kind, or nil as GetTypeConverter does.
func (s *PublishedSchemas) types(kind schema.GroupVersionKind) *typeSet {
	types := s.snapshot.Load().types(kind.GroupVersion())
	if !types.has(kind.Kind) {
		types = s.await(kind)
	}
	return types
}

// await returns the types of the group version of a kind, or nil as GetTypeConverter does.
func (s *PublishedSchemas) await(kind schema.GroupVersionKind) *typeSet {
	asked := time.Now()
	for {
		v := s.snapshot.Load()
		types, missingSince := s.lookUp(v, kind, asked)
		if types.has(kind.Kind) || types != nil && s.builtIn(kind.GroupVersion()) {
			return types
		}
		remaining := time.Until(missingSince.Add(maxPublishWait))
		if remaining <= 0 {
			return types
		}
		select {
		case s.pollRequested <- struct{}{}:
		default: // another request has requested the poll
		}
		timer := time.NewTimer(remaining)
		select {
		case <-v.replaced:
		case <-timer.C:
		case <-s.stopped:
			return types
		}
		timer.Stop()
	}
}

// lookUp looks a kind up in a snapshot, and returns the types of its group version. If the kind is
// missing, it also returns the time since which requests have waited for it. Before the server's
// first answer, this is the time of the request.
func (s *PublishedSchemas) lookUp(v *snapshot, kind schema.GroupVersionKind, asked time.Time) (*typeSet, time.Time) {
	d := v.documents[kind.GroupVersion()]
	switch {
	case v.documents == nil:
		return nil, asked
	case d == nil:
		return nil, earlier(asked, s.missingVersions.firstRequested(kind.GroupVersion()))
	}
	types := d.await(kind.Kind, asked.Add(maxReadWait), s.stopped)
	if types.has(kind.Kind) {
		return types, asked
	}
	return types, earlier(asked, d.missingKinds.firstRequested(kind.Kind))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
