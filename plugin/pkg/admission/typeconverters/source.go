// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typeconverters knows the schemas of all kinds that a server serves, as its OpenAPI
// documents have them, to merge apply configurations by. Documents are read when the first
// request needs them, and anew when they change.
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
	// lookPatience is how long a request waits for a kind to be published. A custom resource may
	// be served for a second before it is.
	lookPatience = 2500 * time.Millisecond
	// buildPatience is how long it waits in all when a document has to be read, and how long all
	// requests together wait for a new state of one if the state before has the kind.
	buildPatience = 5 * time.Second
)

// Source implements mutating.TypeConverters. Safe for concurrent use.
type Source struct {
	client  openapi.ClientWithContext
	builtIn func(schema.GroupVersion) bool

	view atomic.Pointer[view]
	// absent has the group versions that requests asked for, and the server does not publish.
	absent misses
	// wanted has an entry when a request wants to know what is published now.
	wanted  chan struct{}
	stopped chan struct{}
}

var _ mutating.TypeConverters = &Source{}

// New returns a source that reads from a server. To the group versions for which builtIn is
// true no kinds are added while the server runs. builtIn is safe for concurrent use.
func New(client openapi.Client, builtIn func(schema.GroupVersion) bool) *Source {
	s := &Source{
		client:  openapi.ToClientWithContext(client),
		builtIn: builtIn,
		wanted:  make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	s.view.Store(newView(nil))
	return s
}

// GetTypeConverter implements mutating.TypeConverters. It waits for what is being read, and
// a kind that is not published has the server asked for it, for some seconds at most. From
// then on that kind is not waited for until its document changes. The result may not have the
// kind if its group version is published without. While a new state of a document cannot be
// read, or not in time, kinds are as in the last one that could. It is nil if the group
// version is not published, cannot be read, or is not known when Run has ended.
func (s *Source) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	known := s.view.Load().types(kind.GroupVersion())
	if !known.has(kind.Kind) {
		known = s.await(kind)
	}
	if known == nil {
		return nil
	}
	return known.converter
}

// await returns nil like GetTypeConverter.
func (s *Source) await(kind schema.GroupVersionKind) *types {
	asked := time.Now()
	for {
		v := s.view.Load()
		known, missed := s.examine(v, kind, asked)
		if known.has(kind.Kind) || known != nil && s.builtIn(kind.GroupVersion()) {
			return known
		}
		left := time.Until(missed.Add(lookPatience))
		if left <= 0 {
			return known
		}
		select {
		case s.wanted <- struct{}{}:
		default: // somebody else has asked
		}
		timer := time.NewTimer(left)
		select {
		case <-v.next:
		case <-timer.C:
		case <-s.stopped:
			return known
		}
		timer.Stop()
	}
}

// examine returns what a view has of the group version of a kind, and since when the kind is
// missing if it is. A view that is not that of a server tells nothing.
func (s *Source) examine(v *view, kind schema.GroupVersionKind, asked time.Time) (*types, time.Time) {
	d := v.documents[kind.GroupVersion()]
	switch {
	case v.documents == nil:
		return nil, asked
	case d == nil:
		return nil, earlier(asked, s.absent.since(kind.GroupVersion()))
	}
	known := d.await(kind.Kind, asked.Add(buildPatience), s.stopped)
	if known.has(kind.Kind) {
		return known, asked
	}
	return known, earlier(asked, d.missed.since(kind.Kind))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
