// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lookupsource keeps the objects that policies look up. Each open kind, that is each kind
// for which a policy has a handle, or had one until a minute ago, has one watch: in the server's
// own storage if that holds the kind, and by requests otherwise.
package lookupsource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

// linger is the time for which a kind or an index is still kept up to date after its last handle
// was closed. Requests that began before the policy was changed still read it.
const linger = time.Minute

// maxFills is the number of indexes of a source whose keys are computed at the same time.
const maxFills = 2

// A Find gives access to the objects of a kind in the storage of the server itself. resource serves
// the kind. A Find returns a Found without ListerWatcher if that storage does not have the objects,
// so that they must be read by requests, and an error if it cannot find out at present. An error
// that satisfies paramsource.NotServed means that no resource serves the kind any more. A Find is
// safe for concurrent use.
type Find func(ctx context.Context, kind schema.GroupVersionKind, resource paramsource.Resource) (Found, error)

// Found lists and watches the objects of a kind without requests.
type Found struct {
	// ListerWatcher may be a RevisionedStorage, which consistency Latest needs.
	cache.ListerWatcher
	// Outdated is closed when the objects have to be found again. It is nil if they never have.
	Outdated <-chan struct{}
}

// A Source implements lookups.Source. It is safe for concurrent use.
type Source struct {
	ctx       context.Context
	discovery paramsource.Discovery
	client    dynamic.Interface
	find      Find
	served    <-chan struct{}
	// fills has an element for each index whose keys are being computed.
	fills chan struct{}

	lock  sync.Mutex
	kinds map[schema.GroupVersionKind]*kind
}

var _ lookups.Source = &Source{}

// New returns a source that watches objects until stop is closed. client reads the kinds that find
// does not find; a nil find finds none. The source sends no requests, and does not call find,
// before served is closed. served is nil if the server serves all of its paths already.
func New(discovery paramsource.Discovery, client dynamic.Interface, find Find, served, stop <-chan struct{}) *Source {
	if find == nil {
		find = func(context.Context, schema.GroupVersionKind, paramsource.Resource) (Found, error) {
			return Found{}, nil
		}
	}
	ctx := wait.ContextForChannel(stop)
	return &Source{
		ctx:       klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "lookups")),
		discovery: discovery, client: client, find: find, served: served,
		fills: make(chan struct{}, maxFills), kinds: map[schema.GroupVersionKind]*kind{},
	}
}

// Shared holds one source for several users. Safe for concurrent use.
type Shared struct {
	once   sync.Once
	source *Source
}

// Get returns the source, which the first call makes with create.
func (s *Shared) Get(create func() *Source) *Source {
	s.once.Do(func() { s.source = create() })
	return s.source
}

// Open implements lookups.Source.
func (s *Source) Open(gvk schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, ok := s.kinds[gvk]
	if !ok {
		ctx, stop := context.WithCancel(s.ctx)
		k = newKind(gvk, s, stop)
		s.kinds[gvk] = k
		go k.run(ctx)
	}
	k.users++
	o := &opened{kind: k, close: sync.OnceFunc(func() {
		if index != nil {
			k.closeIndex(index.Text())
		}
		time.AfterFunc(linger, func() { s.release(k, index) })
	})}
	if index != nil {
		k.addIndex(index)
		o.indexes = []string{index.Text()}
	}
	return o
}

func (s *Source) release(k *kind, index lookups.Indexer) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if index != nil {
		k.removeIndex(index.Text())
	}
	if k.users--; k.users == 0 {
		delete(s.kinds, k.gvk)
		k.stop()
	}
}

// Synced returns nil if the source knows the objects of all open kinds, and the keys of their open
// indexes. A kind is open while it has a handle, and for a while after that. Otherwise Synced joins
// an error for each open kind for which they are not known. It leaves out kinds that no server
// serves.
func (s *Source) Synced() error {
	var errs []error
	s.Kinds(func(gvk schema.GroupVersionKind, _ *lookups.State, err error) {
		if err != nil && !paramsource.NotServed(err) {
			errs = append(errs, fmt.Errorf("looked up objects of kind %v: %w", gvk, err))
		}
	})
	return errors.Join(errs...)
}

// Kinds calls observe for each kind that has a handle, or had one until recently, with its present
// objects, or with the reason why they are not known. paramsource.NotServed tells whether the
// reason is that no resource serves the kind.
func (s *Source) Kinds(observe func(schema.GroupVersionKind, *lookups.State, error)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for gvk, k := range s.kinds {
		state, err := k.current()
		observe(gvk, state, err)
	}
}

// opened is the access of one lookup to a kind.
type opened struct {
	kind *kind
	// indexes has the text of the lookup's index, if there is one.
	indexes []string
	close   func()
}

// State implements lookups.Handle.
func (o *opened) State(ctx context.Context) (*lookups.State, error) {
	return o.kind.await(ctx, o.indexes)
}

// Close implements lookups.Handle.
func (o *opened) Close() { o.close() }
