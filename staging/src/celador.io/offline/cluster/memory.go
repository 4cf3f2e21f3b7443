// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// memory is a storage.Interface for one resource. It stores objects in the layer of the request's
// context.
type memory struct {
	storage.APIObjectVersioner
	newObject func() runtime.Object
	// codec encodes custom resources, whose registries convert between versions when they store and
	// read. It is nil for built-in resources.
	codec runtime.Codec
	// defaulting sets the defaults of built-in objects, as the codec of a server's storage does.
	// Nil for no defaults.
	defaulting *lateCodec
}

var _ storage.Interface = memory{}

// newMemory is a generic.StorageDecorator.
func newMemory(config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), newObject, _ func() runtime.Object,
	_ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	defaulting, _ := config.Codec.(*lateCodec)
	return memory{newObject: newObject, defaulting: defaulting}, func() {}, nil
}

// newEncodedMemory is a generic.StorageDecorator for custom resources.
func newEncodedMemory(config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), newObject, _ func() runtime.Object,
	_ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	return memory{newObject: newObject, codec: config.Codec}, func() {}, nil
}

var _, _ generic.StorageDecorator = newMemory, newEncodedMemory

// encode returns an object in the form in which layers hold it. For a built-in object, that is a
// copy with its defaults, which may depend on what the registry has set. For a custom resource, it
// is a *runtime.Unknown with the JSON.
func (m memory) encode(object runtime.Object) (runtime.Object, error) {
	switch {
	case m.codec == nil && m.defaulting == nil:
		return object.DeepCopyObject(), nil
	case m.codec == nil:
		return throughStorage(m.defaulting, object)
	}
	data, err := runtime.Encode(m.codec, object)
	if err != nil {
		return nil, err
	}
	return &runtime.Unknown{Raw: data}, nil
}

// decode sets out to a copy of an object in a layer.
func (m memory) decode(stored, out runtime.Object) error {
	if unknown, ok := stored.(*runtime.Unknown); ok {
		return runtime.DecodeInto(m.codec, unknown.Raw, out)
	}
	return copyInto(stored, out)
}

// Versioner implements storage.Interface.
func (m memory) Versioner() storage.Versioner { return m.APIObjectVersioner }

// Create implements storage.Interface.
func (m memory) Create(ctx context.Context, key string, object, out runtime.Object, _ uint64) error {
	l := layerFrom(ctx)
	if l.get(key) != nil {
		return storage.NewKeyExistsError(key, 0)
	}
	if version, err := m.ObjectResourceVersion(object); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	created := object.DeepCopyObject()
	if err := m.UpdateObject(created, firstVersion); err != nil {
		return err
	}
	stored, err := m.encode(created)
	if err != nil {
		return err
	}
	l.put(key, stored)
	return m.decode(stored, out)
}

// firstVersion is the resource version of a new object.
const firstVersion = 1

// Get implements storage.Interface.
func (m memory) Get(ctx context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	stored := layerFrom(ctx).get(key)
	if stored == nil {
		if options.IgnoreNotFound {
			return runtime.SetZeroValue(out)
		}
		return storage.NewKeyNotFoundError(key, 0)
	}
	return m.decode(stored, out)
}

// GetList implements storage.Interface.
func (m memory) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	if options.Recursive {
		key += "/"
	}
	var matching []runtime.Object
	for _, stored := range layerFrom(ctx).list(key) {
		object := m.newObject()
		if err := m.decode(stored, object); err != nil {
			return err
		}
		matches, err := options.Predicate.Matches(object)
		if err != nil {
			return err
		}
		if matches {
			matching = append(matching, object)
		}
	}
	if err := meta.SetList(list, matching); err != nil {
		return err
	}
	return m.UpdateList(list, firstVersion, "", nil)
}

// GuaranteedUpdate implements storage.Interface. It calls update once, because there are no other
// writers.
func (m memory) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object) error {
	current := m.newObject()
	if err := m.Get(ctx, key, storage.GetOptions{IgnoreNotFound: ignoreNotFound}, current); err != nil {
		return err
	}
	if err := preconditions.Check(key, current); err != nil {
		return err
	}
	version, err := m.ObjectResourceVersion(current)
	if err != nil {
		return err
	}
	updated, _, err := update(current, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	updated = updated.DeepCopyObject()
	if err := m.UpdateObject(updated, version+1); err != nil {
		return err
	}
	stored, err := m.encode(updated)
	if err != nil {
		return err
	}
	layerFrom(ctx).put(key, stored)
	return m.decode(stored, out)
}

// Delete implements storage.Interface.
func (m memory) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	if err := m.Get(ctx, key, storage.GetOptions{}, out); err != nil {
		return err
	}
	if err := preconditions.Check(key, out); err != nil {
		return err
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	layerFrom(ctx).put(key, nil)
	return nil
}

var errUnsupported = errors.New("not supported by a cluster without a server")

// Watch implements storage.Interface. It always returns an error.
func (memory) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, errUnsupported
}

// Stats implements storage.Interface. It always returns an error.
func (memory) Stats(context.Context) (storage.Stats, error) {
	return storage.Stats{}, errUnsupported
}

func (memory) ReadinessCheck() error                                     { return nil }
func (memory) RequestWatchProgress(context.Context) error                { return nil }
func (memory) GetCurrentResourceVersion(context.Context) (uint64, error) { return firstVersion, nil }
func (memory) EnableResourceSizeEstimation(storage.KeysFunc) error       { return nil }
func (memory) CompactRevision() int64                                    { return 0 }

// copyInto sets out to a deep copy of the object, which must be of the same type.
func copyInto(object, out runtime.Object) error {
	from, to := reflect.ValueOf(object.DeepCopyObject()), reflect.ValueOf(out)
	if from.Type() != to.Type() {
		return fmt.Errorf("stored object is a %s, not a %s", from.Type(), to.Type())
	}
	to.Elem().Set(from.Elem())
	return nil
}
