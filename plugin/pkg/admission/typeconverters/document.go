// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// document is the OpenAPI document of a group version in one state. Safe for concurrent use.
type document struct {
	// url is different for each state.
	url string
	// since is when the state was first seen.
	since time.Time
	// missed has the kinds that requests asked for, and the document does not have.
	missed *misses
	// read has the document read in the background. Only the first call does.
	read func()
	// done is closed when that has ended.
	done chan struct{}
	// types is nil before, and after a failure.
	types atomic.Pointer[types]
	// before are the types of the last state that could be read, until this one is. They are
	// nil if there is none.
	before atomic.Pointer[types]
}

// types are those of a document. Immutable.
type types struct {
	converter managedfields.TypeConverter
	kinds     sets.Set[string]
}

func (t *types) has(kind string) bool { return t != nil && t.kinds.Has(kind) }

// newDocument returns a document that can be read until the context ends. It comes after
// another one, or nil, whose state it may have. If that was in use it is read at once.
func newDocument(ctx context.Context, version schema.GroupVersion, published openapi.GroupVersionWithContext, last *document) *document {
	d := &document{url: published.ServerRelativeURL(), since: time.Now(), missed: &misses{}, done: make(chan struct{})}
	d.read = sync.OnceFunc(func() {
		go func() {
			defer close(d.done)
			read, err := read(ctx, version, published)
			if err == nil {
				d.types.Store(read)
				d.before.Store(nil)
			} else if ctx.Err() == nil {
				utilruntime.HandleErrorWithContext(ctx, err, "Cannot read an OpenAPI document; until that succeeds, mutating policies cannot change objects of kinds that were not in it before", "groupVersion", version, "url", d.url)
			}
		}()
	})
	if last == nil {
		return d
	}
	if last.url == d.url {
		d.since, d.missed = last.since, last.missed
	}
	if before := last.latest(); before != nil {
		d.before.Store(before)
		d.read()
	}
	return d
}

// latest returns the types of the last state that could be read, or nil.
func (d *document) latest() *types {
	before := d.before.Load() // which may be gone once there are types
	if read := d.types.Load(); read != nil {
		return read
	}
	return before
}

// await has the document read if it is not yet. If that fails, or is not done in time, the
// result is that of the state before if that has the kind, and otherwise nil. Where it has,
// requests wait for a new state only until some seconds after it was first seen.
func (d *document) await(kind string, deadline time.Time, stopped <-chan struct{}) *types {
	before := d.before.Load()
	if !before.has(kind) {
		before = nil
	} else {
		deadline = earlier(deadline, d.since.Add(buildPatience))
	}
	d.wait(deadline, stopped)
	if read := d.types.Load(); read != nil {
		return read
	}
	return before
}

// wait has the document read if it is not yet, and returns when that is done or the time is up.
func (d *document) wait(deadline time.Time, stopped <-chan struct{}) {
	d.read()
	select {
	case <-d.done:
		return
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-d.done:
	case <-timer.C:
	case <-stopped:
	}
}

func (d *document) failed() bool {
	select {
	case <-d.done:
		return d.types.Load() == nil
	default:
		return false
	}
}

func read(ctx context.Context, version schema.GroupVersion, published openapi.GroupVersionWithContext) (read *types, err error) {
	// Documents may be those of other servers.
	defer func() {
		if cause := recover(); cause != nil {
			read, err = nil, fmt.Errorf("panic: %v", cause)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text, err := published.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	// Most of a document is about paths, which are not needed.
	var content struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	converter, err := managedfields.NewTypeConverter(content.Components.Schemas, false)
	if err != nil {
		return nil, err
	}
	return &types{converter, kindsOf(version, content.Components.Schemas)}, nil
}

// kindsOf returns the kinds of a group version that there are schemas of.
func kindsOf(version schema.GroupVersion, schemas map[string]*spec.Schema) sets.Set[string] {
	kinds := sets.New[string]()
	for _, model := range schemas {
		listed, _ := model.Extensions["x-kubernetes-group-version-kind"].([]any)
		for _, entry := range listed {
			// What is not a kind is not one to converters either.
			described, _ := entry.(map[string]any)
			kind, _ := described["kind"].(string)
			if described["group"] == version.Group && described["version"] == version.Version {
				kinds.Insert(kind)
			}
		}
	}
	return kinds
}
