// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// openShared opens the storage that all versions share, with which objects are read and deleted in
// the version in which they are stored. Only resources with conversion rules share one: Kubernetes'
// strategies keep a storage for each version, as in Kubernetes.
func (k *kind) openShared(resource *Resource) error {
	k.shared = &versionedstorage.SharedStorage{Stored: k.stored, Converter: k.converters.rules, Defaulter: k.schemas.Defaulter(scheme.Scheme)}
	for i := range k.crd.Spec.Versions {
		v := &k.crd.Spec.Versions[i]
		if !v.Storage {
			continue
		}
		config, err := k.config(i, codecs.NewTyper(codecs.NewOptionsScheme(k.gv(v.Name))))
		if err != nil {
			return err
		}
		config.SelectableFields = nil
		config.RESTOptions = sharedOptions{codecs.AsStored{RESTOptionsGetter: k.RESTOptions, Schemas: k.schemas}, k}
		asStored, err := customresource.NewStorage(config)
		if err != nil {
			return err
		}
		resource.asStored = asStored.CustomResource
		k.shared.Resource, k.shared.Storage = config.Resource, asStored.CustomResource.Storage.Storage
	}
	return nil
}

// attributes returns the attributes of objects in the shared storage. base reads those that are
// equal in all versions.
func (k *kind) attributes(base storage.AttrFunc) *versionedstorage.Attributes {
	attributes := versionedstorage.NewAttributes(base)
	for _, v := range k.crd.Spec.Versions {
		gv := k.gv(v.Name)
		if (v.Served || v.Storage) && (len(v.SelectableFields) > 0 || k.shared.Converter.ChangesLabels(gv)) {
			attributes.Add(gv, customresource.Attributes(gv.WithKind(k.crd.Status.AcceptedNames.Kind), !k.clusterScoped(), v.SelectableFields), k.shared.Converter)
		}
	}
	return attributes
}

// sharedOptions are the options of the shared storage.
type sharedOptions struct {
	codecs.AsStored
	kind *kind
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s sharedOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := s.AsStored.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	open := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error), newFunc, newListFunc func() runtime.Object, base storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		s.kind.shared.Attributes = s.kind.attributes(base)
		return open(config, prefix, key, newFunc, newListFunc, s.kind.shared.Attributes.Of, trigger, indexers)
	}
	return options, nil
}

// viewOptions are the options of a version's storage, which is a view of the shared storage.
// Nothing but dry runs uses their codec.
type viewOptions struct {
	codecs.StorageOptionsGetter
	shared *versionedstorage.SharedStorage
	kind   schema.GroupVersionKind
	view   **versionedstorage.VersionStorage
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (v viewOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := v.StorageOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	// The shared storage counts the objects.
	options.CountMetricPollPeriod = 0
	options.Decorator = func(_ *storagebackend.ConfigForResource, _ string, key func(runtime.Object) (string, error), _, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		*v.view = versionedstorage.NewVersionStorage(v.shared, v.kind, key)
		return *v.view, (*v.view).Close, nil
	}
	return options, nil
}
