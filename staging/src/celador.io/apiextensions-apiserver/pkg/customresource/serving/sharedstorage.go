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

// openShared opens the storage that all versions share if there are conversion rules. It reads and
// deletes objects in the version in which they are stored. For Kubernetes' conversion strategies,
// each version has a storage of its own, as in Kubernetes.
func (b *build) openShared(resource *ServedResource) error {
	b.shared = &versionedstorage.SharedStorage{Stored: b.stored, Converter: b.converters.rules, Defaulter: b.schemas.Defaulter(scheme.Scheme)}
	for i := range b.crd.Spec.Versions {
		v := &b.crd.Spec.Versions[i]
		if !v.Storage {
			continue
		}
		config, err := b.config(i, codecs.NewTyper(codecs.NewOptionsScheme(b.gv(v.Name))))
		if err != nil {
			return err
		}
		config.SelectableFields = nil
		config.RESTOptions = sharedOptions{codecs.AsStored{RESTOptionsGetter: b.RESTOptions, Schemas: b.schemas}, b}
		asStored, err := customresource.NewStorage(config)
		if err != nil {
			return err
		}
		resource.asStored = asStored.CustomResource
		b.shared.Resource, b.shared.Storage = config.Resource, asStored.CustomResource.Storage.Storage
	}
	return nil
}

// attributes returns the attributes by which requests of all versions select objects of the shared
// storage. base reads those that are the same in all versions.
func (b *build) attributes(base storage.AttrFunc) *versionedstorage.Attributes {
	attributes := versionedstorage.NewAttributes(base)
	for _, v := range b.crd.Spec.Versions {
		gv := b.gv(v.Name)
		if (v.Served || v.Storage) && (len(v.SelectableFields) > 0 || b.shared.Converter.ChangesLabels(gv)) {
			attributes.Add(gv, customresource.Attributes(gv.WithKind(b.crd.Status.AcceptedNames.Kind), !b.clusterScoped(), v.SelectableFields), b.shared.Converter)
		}
	}
	return attributes
}

// sharedOptions are the options with which the shared storage is opened. They replace the function
// that reads the labels and fields of an object by one that returns those of all versions, so that
// requests in every version can select objects.
type sharedOptions struct {
	codecs.AsStored
	build *build
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s sharedOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := s.AsStored.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	open := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error), newFunc, newListFunc func() runtime.Object, base storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		s.build.shared.Attributes = s.build.attributes(base)
		return open(config, prefix, key, newFunc, newListFunc, s.build.shared.Attributes.Of, trigger, indexers)
	}
	return options, nil
}

// versionOptions are the options with which the storage of one version is opened: a VersionStorage,
// which converts the objects of the shared storage. Only dry runs use the codec of the options.
type versionOptions struct {
	codecs.StorageOptionsGetter
	shared    *versionedstorage.SharedStorage
	kind      schema.GroupVersionKind
	versioned **versionedstorage.VersionStorage
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (v versionOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := v.StorageOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	// The metric of the number of objects is left to the shared storage.
	options.CountMetricPollPeriod = 0
	options.Decorator = func(_ *storagebackend.ConfigForResource, _ string, key func(runtime.Object) (string, error), _, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		*v.versioned = versionedstorage.NewVersionStorage(v.shared, v.kind, key)
		return *v.versioned, (*v.versioned).Close, nil
	}
	return options, nil
}
