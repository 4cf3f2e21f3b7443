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
	// missed has the kinds that requests asked for, and the document does not have.
	missed *misses
	// read has the document read in the background. Only the first call does.
	read func()
	// done is closed when that has ended.
	done chan struct{}
	// types is nil before, and after a failure.
	types atomic.Pointer[types]
}

// types are those of a document. Immutable.
type types struct {
	converter managedfields.TypeConverter
	kinds     sets.Set[string]
}

func (t *types) has(kind string) bool { return t != nil && t.kinds.Has(kind) }

// newDocument returns a document that can be read until the context ends.
func newDocument(ctx context.Context, version schema.GroupVersion, published openapi.GroupVersionWithContext, missed *misses) *document {
	d := &document{url: published.ServerRelativeURL(), missed: missed, done: make(chan struct{})}
	d.read = sync.OnceFunc(func() {
		go func() {
			defer close(d.done)
			read, err := read(ctx, version, published)
			if err != nil && ctx.Err() == nil {
				utilruntime.HandleErrorWithContext(ctx, err, "Cannot read an OpenAPI document; until that succeeds, mutating policies cannot change objects of the group version", "groupVersion", version, "url", d.url)
			}
			d.types.Store(read)
		}()
	})
	return d
}

// await has the document read if it is not yet, and returns nil if that fails, or is not done
// in time.
func (d *document) await(deadline time.Time, stopped <-chan struct{}) *types {
	d.read()
	select {
	case <-d.done:
		return d.types.Load()
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-d.done:
	case <-timer.C:
	case <-stopped:
	}
	return d.types.Load()
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
