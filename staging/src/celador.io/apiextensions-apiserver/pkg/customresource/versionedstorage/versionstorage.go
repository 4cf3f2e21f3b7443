// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// A VersionStorage is the storage of one version of the custom resources in a SharedStorage. It
// implements storage.Interface. For an object that does not convert, it returns an error with the
// code storage.ErrCodeCorruptObj, as for an object that cannot be decoded. Lists and watches return
// an API error with the reason StorageReadError.
type VersionStorage struct {
	// Interface is the shared storage. It serves the methods that read and write no objects.
	storage.Interface
	shared *SharedStorage
	served schema.GroupVersionKind
	// key returns the key of an object.
	key       func(runtime.Object) (string, error)
	converted convertedObjects
}

// NewVersionStorage returns the storage of objects of a kind in the version to serve. key returns
// the key of an object. The caller must call Close when the VersionStorage is not used any more.
func NewVersionStorage(shared *SharedStorage, served schema.GroupVersionKind, key func(runtime.Object) (string, error)) *VersionStorage {
	return &VersionStorage{Interface: shared.Storage, shared: shared, served: served, key: key}
}

// Close frees the converted objects. It does not close the shared storage.
func (v *VersionStorage) Close() { v.converted.close() }

// Predicate returns the predicate with which a request in the version of the VersionStorage selects
// objects of the shared storage.
func (v *VersionStorage) Predicate(p storage.SelectionPredicate) storage.SelectionPredicate {
	return v.shared.Attributes.predicate(p, v.served.GroupVersion())
}

// Convert returns an object of the shared storage in the version of the VersionStorage. It does not
// change in.
func (v *VersionStorage) Convert(in *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return v.convertOwn(in.DeepCopy())
}

// ConvertMetadata returns an object of the shared storage in the version of the VersionStorage,
// without fields other than metadata. It evaluates only rules that write metadata. It does not
// change in.
func (v *VersionStorage) ConvertMetadata(in *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return v.shared.Converter.ConvertMetadata(in.DeepCopy(), v.served.GroupVersion())
}

// ChangesMetadata reports whether labels and annotations of an object of the shared storage may
// differ in the version of the VersionStorage.
func (v *VersionStorage) ChangesMetadata(stored *unstructured.Unstructured) bool {
	from, to := stored.GroupVersionKind().GroupVersion(), v.served.GroupVersion()
	return from != to && (v.shared.Converter.ChangesMetadata(from, to) || v.shared.Converter.ChangesMetadata(to, from))
}

// convertOwn converts an object that nothing else refers to, since the conversion may change it.
func (v *VersionStorage) convertOwn(in *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return v.convertTo(in, v.served.GroupVersion())
}

func (v *VersionStorage) convertTo(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	if hasVersion(in, to) || hasNoMetadata(in) {
		return in, nil
	}
	return v.shared.Converter.ConvertObject(in, to)
}

// convertRead returns an object of the watch cache in the version of the VersionStorage, and keeps
// it for the next reads. It does not change in. The result must not be changed, either.
func (v *VersionStorage) convertRead(ctx context.Context, in *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if hasVersion(in, v.served.GroupVersion()) || hasNoMetadata(in) {
		return in, nil
	}
	uid, resourceVersion := in.GetUID(), in.GetResourceVersion()
	if found := v.converted.get(uid, resourceVersion); found != nil {
		return found, nil
	}
	out, size, err := v.convertUnkept(ctx, in)
	if err == nil && !isMetadataOnly(ctx) {
		v.converted.put(uid, resourceVersion, out, size)
	}
	return out, err
}

// convertUnkept converts an object of another version, like convertRead, but does not keep the
// result. size is the memory that keeping it would take.
func (v *VersionStorage) convertUnkept(ctx context.Context, in *unstructured.Unstructured) (out *unstructured.Unstructured, size int, err error) {
	if isMetadataOnly(ctx) {
		out, err = v.shared.Converter.ConvertMetadata(in, v.served.GroupVersion())
		return out, 0, err
	}
	return convertShared(v.shared.Converter, in, v.served.GroupVersion())
}

func (v *VersionStorage) newStored() *unstructured.Unstructured {
	return newObject(v.shared.Stored.WithKind(v.served.Kind))
}

// Get implements storage.Interface.
func (v *VersionStorage) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	stored := v.newStored()
	if err := v.Interface.Get(ctx, key, opts, stored); err != nil {
		return err
	}
	var converted *unstructured.Unstructured
	var err error
	if opts.ResourceVersion == "" && !isMetadataOnly(ctx) {
		// The object does not come from the watch cache. Callers may change it, as dry runs do.
		converted, err = v.convertOwn(stored)
	} else {
		converted, err = v.convertRead(ctx, stored)
	}
	if err != nil {
		return storage.NewCorruptObjError(key, err)
	}
	return setContent(out, converted)
}

// Create implements storage.Interface.
func (v *VersionStorage) Create(ctx context.Context, key string, object, out runtime.Object, ttl uint64) error {
	toStore, err := v.toStored(object)
	if err != nil {
		return err
	}
	stored := v.newStored()
	if err := v.Interface.Create(ctx, key, toStore, stored, ttl); err != nil {
		return err
	}
	return v.setWritten(key, out, stored)
}

// toStored returns a written object in the storage version, with the defaults that reading it would
// set. The watch cache has these defaults: without them, an update that changes nothing would
// differ from the object there, and would be written each time.
func (v *VersionStorage) toStored(object runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, errNotUnstructured(object)
	}
	if hasVersion(u, v.shared.Stored) {
		return u, nil
	}
	stored, err := v.convertTo(u.DeepCopy(), v.shared.Stored)
	if err != nil {
		return nil, err
	}
	v.shared.Defaulter.Default(stored)
	return stored, nil
}

// setWritten sets out to the stored object in the version of the VersionStorage. out may be nil.
func (v *VersionStorage) setWritten(key string, out runtime.Object, stored *unstructured.Unstructured) error {
	if out == nil {
		return nil
	}
	converted, err := v.convertOwn(stored)
	if err != nil {
		return storage.NewCorruptObjError(key, err)
	}
	return setContent(out, converted)
}

// GuaranteedUpdate implements storage.Interface. The shared storage finds the object itself, so
// cachedExistingObject is not used.
func (v *VersionStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object) error {
	stored := v.newStored()
	err := v.Interface.GuaranteedUpdate(ctx, key, stored, ignoreNotFound, preconditions, func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
		u, ok := input.(*unstructured.Unstructured)
		if !ok {
			return nil, nil, errNotUnstructured(input)
		}
		before := u
		if !hasVersion(u, v.served.GroupVersion()) {
			before = u.DeepCopy()
		}
		current, err := v.convertOwn(u)
		if err != nil {
			return nil, nil, storage.NewCorruptObjError(key, err)
		}
		updated, ttl, err := tryUpdate(current, meta)
		if err != nil {
			return nil, nil, err
		}
		toStore, err := v.toStored(updated)
		if err == nil && before != u && isUnchanged(toStore, before) {
			return before, ttl, nil
		}
		return toStore, ttl, err
	}, nil)
	if err != nil {
		return err
	}
	return v.setWritten(key, destination, stored)
}

// isUnchanged reports whether an update in another version than the storage version leaves the
// stored object as it was. A request may set fields that the storage version cannot hold, such as
// defaults of its version. The object before the update lacks them, so Kubernetes takes the update
// for a change: it increments the generation and renews the times of managed fields. These
// differences do not count.
func isUnchanged(updated, before *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(withoutTimes(updated), withoutTimes(before))
}

// withoutTimes returns a copy of an object's content without the generation and the times of
// managed fields. All other values are shared.
func withoutTimes(u *unstructured.Unstructured) map[string]any {
	content := maps.Clone(u.Object)
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return content
	}
	metadata = maps.Clone(metadata)
	delete(metadata, "generation")
	if entries, ok := metadata["managedFields"].([]any); ok {
		entries = slices.Clone(entries)
		for i := range entries {
			if entry, ok := entries[i].(map[string]any); ok {
				entry = maps.Clone(entry)
				delete(entry, "time")
				entries[i] = entry
			}
		}
		metadata["managedFields"] = entries
	}
	content["metadata"] = metadata
	return content
}

// Delete implements storage.Interface. As in GuaranteedUpdate, cachedExistingObject is not used.
func (v *VersionStorage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions, validate storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions) error {
	if opts.ExpectTransformOrDecodeError && utilfeature.DefaultFeatureGate.Enabled(features.AllowUnsafeMalformedObjectDeletion) {
		return v.deleteUnreadable(ctx, key, validate)
	}
	stored := v.newStored()
	err := v.Interface.Delete(ctx, key, stored, preconditions, func(ctx context.Context, object runtime.Object) error {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return errNotUnstructured(object)
		}
		converted, err := v.convertOwn(u)
		if err != nil {
			return storage.NewCorruptObjError(key, err)
		}
		return validate(ctx, converted)
	}, nil, opts)
	if err != nil {
		return err
	}
	return v.setWritten(key, out, stored)
}

// deleteUnreadable deletes an object that does not convert to the version of the VersionStorage.
// Clients ask for it with the delete option ignoreStoreReadErrorWithClusterBreakingPotential.
func (v *VersionStorage) deleteUnreadable(ctx context.Context, key string, validate storage.ValidateObjectFunc) error {
	stored := v.newStored()
	if err := v.Interface.Get(ctx, key, storage.GetOptions{}, stored); err != nil {
		// The object does not exist or cannot even be decoded.
		return v.Interface.Delete(ctx, key, stored, nil, validate, nil, storage.DeleteOptions{ExpectTransformOrDecodeError: true})
	}
	if _, err := v.Convert(stored); err == nil {
		return storage.NewInvalidObjError(key, "unsafe deletion is not allowed because the object is decodable from storage")
	}
	uid, resourceVersion := stored.GetUID(), stored.GetResourceVersion()
	unchanged := &storage.Preconditions{UID: &uid, ResourceVersion: &resourceVersion}
	return v.Interface.Delete(ctx, key, v.newStored(), unchanged, validate, nil, storage.DeleteOptions{})
}

// GetList implements storage.Interface.
func (v *VersionStorage) GetList(ctx context.Context, key string, opts storage.ListOptions, listObject runtime.Object) error {
	out, ok := listObject.(*unstructured.UnstructuredList)
	if !ok {
		return errNotUnstructured(listObject)
	}
	stored := &unstructured.UnstructuredList{}
	stored.SetGroupVersionKind(v.shared.Stored.WithKind(out.GetKind()))
	opts.Predicate = v.Predicate(opts.Predicate)
	if err := v.Interface.GetList(ctx, key, opts, stored); err != nil {
		return err
	}
	items := make([]unstructured.Unstructured, len(stored.Items))
	failed := unreadable{resource: v.shared.Resource}
	for i := range stored.Items {
		if err := ctx.Err(); err != nil {
			return err
		}
		item, err := v.convertRead(ctx, &stored.Items[i])
		switch {
		case err == nil:
			items[i] = *item
		case !failed.add(v.keyOf(&stored.Items[i]), err):
			return failed.status()
		}
	}
	if len(failed.errors) > 0 {
		return failed.status()
	}
	out.Items = items
	if metadata, ok := stored.Object["metadata"]; ok {
		out.Object["metadata"] = metadata
	}
	return nil
}

func (v *VersionStorage) keyOf(u *unstructured.Unstructured) string {
	key, err := v.key(u)
	if err != nil {
		return u.GetNamespace() + "/" + u.GetName()
	}
	return key
}

// Watch implements storage.Interface. The watch ends with an error event at the first object that
// does not convert.
func (v *VersionStorage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.Predicate = v.Predicate(opts.Predicate)
	source, err := v.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	return newWatcher(ctx, source, v), nil
}

var _ storage.Interface = &VersionStorage{}
