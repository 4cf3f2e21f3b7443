// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
	"celador.io/admission/panics"
)

// A document is one state of the OpenAPI document of a group version. It is safe for concurrent
// use.
type document struct {
	// url contains a hash of the document, so each state has its own.
	url string
	// firstSeen is the time of the poll that first returned this state.
	firstSeen time.Time
	// missingKinds holds the kinds for which requests have asked and that the document does not
	// contain.
	missingKinds *missing
	// startRead starts a goroutine that reads the document. Further calls have no effect.
	startRead func()
	// readDone is closed when the goroutine ends.
	readDone chan struct{}
	// types is nil before the document is read, and if reading fails.
	types atomic.Pointer[typeSet]
	// previous holds the types of the last state of the document that could be read, until this
	// state has been read. Nil if there is none.
	previous atomic.Pointer[typeSet]
}

// A typeSet holds the types of a document. It is immutable.
type typeSet struct {
	// converter is nil if only schemas are wanted.
	converter managedfields.TypeConverter
	// schemas holds the schemas of the kinds. They are nil if only the converter is wanted, so that
	// the models, which take much memory, are dropped.
	schemas map[string]*modelschema.Schema
}

func (t *typeSet) has(kind string) bool {
	if t == nil {
		return false
	}
	_, ok := t.schemas[kind]
	return ok
}

// newDocument returns a document that can be read until ctx ends. last is the previous document of
// the group version, or nil. If last or an earlier state has been read, because requests needed it,
// newDocument starts to read the new document at once, and the types of the earlier state are used
// until then. want tells whether the types are type converters or schemas.
func newDocument(ctx context.Context, version schema.GroupVersion, published openapi.GroupVersionWithContext, want content, last *document) *document {
	d := &document{url: published.ServerRelativeURL(), firstSeen: time.Now(), missingKinds: &missing{}, readDone: make(chan struct{})}
	d.startRead = sync.OnceFunc(func() {
		go func() {
			defer close(d.readDone)
			types, err := read(ctx, version, published, want)
			if err == nil {
				d.types.Store(types)
				d.previous.Store(nil)
			} else if ctx.Err() == nil {
				utilruntime.HandleErrorWithContext(ctx, err, "Cannot read an OpenAPI document; until that succeeds, mutating policies cannot change objects of kinds that were not in it before", "groupVersion", version, "url", d.url)
			}
		}()
	})
	if last == nil {
		return d
	}
	if last.url == d.url {
		d.firstSeen, d.missingKinds = last.firstSeen, last.missingKinds
	}
	if latest := last.latest(); latest != nil {
		d.previous.Store(latest)
		d.startRead()
	}
	return d
}

// latest returns the types of the last state that could be read, or nil.
func (d *document) latest() *typeSet {
	// The order matters: the reading goroutine stores types before it clears previous.
	previous := d.previous.Load()
	if types := d.types.Load(); types != nil {
		return types
	}
	return previous
}

// await reads the document if necessary and returns its types. If reading fails or does not end by
// the deadline, it returns the types of the previous state if those have the kind, and nil
// otherwise. If the previous state has the kind, requests wait only until maxReadWait after the new
// state was first seen.
func (d *document) await(kind string, deadline time.Time, stopped <-chan struct{}) *typeSet {
	previous := d.previous.Load()
	if !previous.has(kind) {
		previous = nil
	} else {
		deadline = earlier(deadline, d.firstSeen.Add(maxReadWait))
	}
	d.wait(deadline, stopped)
	if types := d.types.Load(); types != nil {
		return types
	}
	return previous
}

// wait starts to read the document if necessary. It returns when the document is read, at the
// deadline, or when stopped is closed.
func (d *document) wait(deadline time.Time, stopped <-chan struct{}) {
	d.startRead()
	select {
	case <-d.readDone:
		return
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-d.readDone:
	case <-timer.C:
	case <-stopped:
	}
}

func (d *document) failed() bool {
	select {
	case <-d.readDone:
		return d.types.Load() == nil
	default:
		return false
	}
}

func read(ctx context.Context, version schema.GroupVersion, published openapi.GroupVersionWithContext, want content) (types *typeSet, err error) {
	// Aggregated API servers and CRDs may serve malformed documents, on which parsing could panic.
	defer func() {
		if cause := recover(); cause != nil {
			panics.Record(panics.Schema, cause, "groupVersion", version)
			types, err = nil, fmt.Errorf("panic: %v", cause)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text, err := published.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	models, err := modelschema.Parse(text)
	if err != nil {
		return nil, err
	}
	types = &typeSet{schemas: map[string]*modelschema.Schema{}}
	if want == converters {
		if types.converter, err = managedfields.NewTypeConverter(models, false); err != nil {
			return nil, err
		}
	} else {
		for _, model := range models {
			modelschema.DropDescriptions(model)
		}
	}
	for kind, name := range models.Kinds(version) {
		types.schemas[kind] = nil
		if want == schemas {
			types.schemas[kind] = modelschema.New(func() (*spec.Schema, error) { return models.Resolve(name) })
		}
	}
	return types, nil
}
