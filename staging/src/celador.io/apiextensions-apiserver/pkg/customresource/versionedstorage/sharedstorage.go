// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package versionedstorage serves custom resources in several versions from one storage, and so
// from one watch cache.
//
// The shared storage holds every object in the version in which etcd has it. A VersionStorage
// converts objects when they are read, and back to the storage version when they are written.
// Kubernetes has a watch cache for each version instead. There, an object that does not convert
// keeps the cache of that version from starting, and so breaks all lists and watches of all
// namespaces. With one cache, such an object is an error only where it is read, and all objects are
// in memory once. Each VersionStorage keeps the objects that it has converted while they are read;
// see convertedObjects.
package versionedstorage

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
)

// A Converter converts custom resources between versions. It is safe for concurrent use.
type Converter interface {
	// ConvertObject returns the object in another version, or in itself if it has the version. It
	// may change in, and the result may share values with it.
	ConvertObject(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
	// ConvertMetadata returns an object in another version that has only apiVersion, kind and
	// metadata. It does not change in, and the result shares values with it. It fails only if a
	// rule that writes metadata does.
	ConvertMetadata(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
	// ChangesMetadata reports whether a conversion between the versions may change labels or
	// annotations.
	ChangesMetadata(from, to schema.GroupVersion) bool
	// ChangesLabels reports whether a conversion to the version may change labels.
	ChangesLabels(to schema.GroupVersion) bool
}

// SharedStorage describes the storage that the VersionStorages of a resource share. It must not be
// changed once there is a VersionStorage.
type SharedStorage struct {
	Resource schema.GroupResource
	// Stored is the storage version, in which objects are written.
	Stored    schema.GroupVersion
	Converter Converter
	// Defaulter sets the defaults that objects in the storage version have when they are read.
	Defaulter runtime.ObjectDefaulter
	// Attributes are the labels and fields by which requests select the objects.
	Attributes *Attributes
	// Storage holds objects in the version in which they are stored. Its list and watch predicates
	// use Attributes.
	Storage storage.Interface
}

// convertShared converts a copy of an object that others read as well. The result shares equal
// parts with the object.
func convertShared(c Converter, in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, int, error) {
	out, err := c.ConvertObject(in.DeepCopy(), to)
	if err != nil {
		return nil, 0, err
	}
	content, size := reshare(out.Object, in.Object)
	return &unstructured.Unstructured{Object: content.(map[string]any)}, size, nil
}

// hasNoMetadata reports whether the object has no metadata. A storage passes on such an empty
// object in place of one that does not exist. There is nothing to convert in it.
func hasNoMetadata(u *unstructured.Unstructured) bool {
	_, ok := u.Object["metadata"]
	return !ok
}

func hasVersion(u *unstructured.Unstructured, gv schema.GroupVersion) bool {
	apiVersion, _ := u.Object["apiVersion"].(string)
	return apiVersion == gv.String()
}

func newObject(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// setContent makes in the content of out. Both share it afterwards.
func setContent(out runtime.Object, in *unstructured.Unstructured) error {
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return errNotUnstructured(out)
	}
	u.Object = in.Object
	return nil
}
