// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typeconverters provides the schemas of all kinds that a server serves, to merge apply
// configurations with. It reads the server's OpenAPI documents when a request first needs them, and
// again when they change.
package typeconverters

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/openapi"

	"celador.io/admission/mutating"
)

const (
	// maxPublishWait is the time that a request waits for a kind to be published. A custom resource
	// may be served for a second before its schema is published.
	maxPublishWait = 2500 * time.Millisecond
	// maxReadWait is the total time that a request waits if a document must be read. It is also the
	// time after a change of a document during which requests wait for the new state, if the
	// previous state has the kind.
	maxReadWait = 5 * time.Second
)

// Schemas implements mutating.TypeConverters. It is safe for concurrent use.
type Schemas struct {
	client  openapi.ClientWithContext
	builtIn func(schema.GroupVersion) bool

	snapshot atomic.Pointer[snapshot]
	// missingVersions holds the group versions that requests needed and the server does not
	// publish.
	missingVersions missing
	// pollRequested has an element if a request waits for the next poll.
	pollRequested chan struct{}
	stopped       chan struct{}
}

var _ mutating.TypeConverters = &Schemas{}

// New returns converters that read the OpenAPI documents of a server once Run is called. builtIn
// reports whether a group version is built in, so that no kinds are added to it while the server
// runs; it must be safe for concurrent use.
func New(client openapi.Client, builtIn func(schema.GroupVersion) bool) *Schemas {
	s := &Schemas{
		client:        openapi.ToClientWithContext(client),
		builtIn:       builtIn,
		pollRequested: make(chan struct{}, 1),
		stopped:       make(chan struct{}),
	}
	s.snapshot.Store(newSnapshot(nil))
	return s
}

// GetTypeConverter implements mutating.TypeConverters. If the document of the group version has not
// been read, or does not have the kind, it waits until the document is read or the kind is
// published, for at most maxReadWait and maxPublishWait. Later requests for a kind that was not
// published do not wait until the document changes. The returned converter lacks the kind if the
// group version is published without it. While a changed document cannot be read, the converter for
// its previous state is returned. GetTypeConverter returns nil if the group version is not
// published, if its document could not be read, or if Run ended before it was read.
func (s *Schemas) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	types := s.snapshot.Load().types(kind.GroupVersion())
	if !types.has(kind.Kind) {
		types = s.await(kind)
	}
	if types == nil {
		return nil
	}
	return types.converter
}

// await returns the types of the group version of a kind, or nil as GetTypeConverter does.
func (s *Schemas) await(kind schema.GroupVersionKind) *typeSet {
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

// lookUp returns the types that a snapshot has for the group version of a kind. If the kind is
// missing, it also returns the time since when requests have waited for the kind. Before the first
// answer of the server, that is the time of this request.
func (s *Schemas) lookUp(v *snapshot, kind schema.GroupVersionKind, asked time.Time) (*typeSet, time.Time) {
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
