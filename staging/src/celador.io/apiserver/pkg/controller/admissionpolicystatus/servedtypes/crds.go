// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// The resolver remembers the UIDs of deleted CustomResourceDefinitions for deletedTTL, at most
// maxDeleted of them. The controller uses them to find out without a request whether a
// CustomResourceDefinition that a status names is gone. For other UIDs, it asks the API server.
const (
	maxDeleted = 1000
	deletedTTL = 24 * time.Hour
)

// byKind indexes the established CustomResourceDefinitions by the group and kind of their
// resources.
const byKind = "celador.io/kind"

// crds finds established CustomResourceDefinitions. It caches the converted schemas of a
// CustomResourceDefinition until the CustomResourceDefinition changes.
type crds struct {
	indexer    cache.Indexer // empty if there is no informer
	objectMeta func(context.Context) (*spec.Schema, error)
	synced     cache.InformerSynced
	// followed holds each CustomResourceDefinition by its name. It is read without a lock.
	followed sync.Map

	lock  sync.Mutex
	known map[string]*establishedCRD
	// deleted holds the UIDs of deleted CustomResourceDefinitions.
	deleted *utilcache.LRUExpireCache
}

// An establishedCRD is an established CustomResourceDefinition. It is safe for concurrent use.
type establishedCRD struct {
	*apiextensionsv1.CustomResourceDefinition
	objectMeta func(context.Context) (*spec.Schema, error)

	lock    sync.Mutex
	schemas map[string]*spec.Schema // by version
}

// newCRDs follows the informer's CustomResourceDefinitions; see New for changed.
func newCRDs(informer apiextensionsinformers.CustomResourceDefinitionInformer, objectMeta func(context.Context) (*spec.Schema, error), changed func(*apiextensionsv1.CustomResourceDefinition)) (*crds, error) {
	d := noCRDs()
	if informer == nil {
		return d, nil
	}
	d.objectMeta = objectMeta
	shared := informer.Informer()
	if err := shared.AddIndexers(cache.Indexers{byKind: groupKind}); err != nil {
		return nil, err
	}
	d.indexer = shared.GetIndexer()
	synced, err := follow(shared, func(old, current *apiextensionsv1.CustomResourceDefinition) {
		if current != nil {
			d.followed.Store(current.Name, current)
		} else {
			d.followed.Delete(old.Name)
		}
		if old != nil && current != nil && !differ(old, current) {
			return
		}
		if old != nil {
			d.forget(old, current == nil || current.UID != old.UID)
			changed(old)
		}
		if current != nil {
			changed(current)
		}
	})
	if err != nil {
		return nil, err
	}
	d.synced = synced
	return d, nil
}

// noCRDs returns crds that find nothing.
func noCRDs() *crds {
	return &crds{
		indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byKind: groupKind}),
		synced:  func() bool { return true },
		known:   map[string]*establishedCRD{},
		deleted: utilcache.NewLRUExpireCache(maxDeleted),
	}
}

func groupKind(object any) ([]string, error) {
	if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok && established(crd) {
		return []string{schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind}.String()}, nil
	}
	return nil, nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// differ reports whether the server may serve different types for two states of a
// CustomResourceDefinition.
func differ(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID != b.UID || a.Generation != b.Generation || established(a) != established(b) || a.Status.AcceptedNames.Kind != b.Status.AcceptedNames.Kind
}

func (d *crds) forget(crd *apiextensionsv1.CustomResourceDefinition, deleted bool) {
	d.lock.Lock()
	defer d.lock.Unlock()
	delete(d.known, crd.Name)
	if deleted {
		d.deleted.Add(crd.UID, nil, deletedTTL)
	}
}

// named returns the established CustomResourceDefinition with the given name, or nil if there is
// none.
func (d *crds) named(name string) *establishedCRD {
	// The informer updates its indexer before it sends the event, and forget takes the lock. So a
	// CustomResourceDefinition that is outdated when it is cached here is forgotten by an event
	// still to come.
	d.lock.Lock()
	defer d.lock.Unlock()
	crd := d.get(name)
	if crd == nil || !established(crd) {
		return nil
	}
	if known := d.known[name]; known != nil && !differ(known.CustomResourceDefinition, crd) {
		return known
	}
	found := &establishedCRD{CustomResourceDefinition: crd, objectMeta: d.objectMeta, schemas: map[string]*spec.Schema{}}
	d.known[name] = found
	return found
}

// version returns the resourceVersion of a cached CustomResourceDefinition, established or not, or
// "" if there is none.
func (d *crds) version(name string) string {
	if crd := d.get(name); crd != nil {
		return crd.ResourceVersion
	}
	return ""
}

// get returns a cached CustomResourceDefinition, established or not, or nil.
func (d *crds) get(name string) *apiextensionsv1.CustomResourceDefinition {
	object, exists, err := d.indexer.GetByKey(name)
	if err != nil || !exists {
		return nil
	}
	return object.(*apiextensionsv1.CustomResourceDefinition)
}

// ofKind returns the established CustomResourceDefinition of the kind, or nil if there is none.
func (d *crds) ofKind(kind schema.GroupKind) *establishedCRD {
	names, err := d.indexer.IndexKeys(byKind, kind.String())
	if err != nil || len(names) == 0 {
		return nil
	}
	return d.named(names[0])
}

// schema returns the schema of a version, or nil if the version is not served.
func (d *establishedCRD) schema(ctx context.Context, version string) (*spec.Schema, error) {
	if !d.serves(version) {
		return nil, nil
	}
	objectMeta, err := d.objectMeta(ctx)
	if err != nil {
		return nil, err
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	if known, ok := d.schemas[version]; ok {
		return known, nil
	}
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Name == version {
			d.schemas[version] = schemas.ForTypeChecks(d.CustomResourceDefinition, v, objectMeta)
		}
	}
	return d.schemas[version], nil
}

func (d *establishedCRD) serves(version string) bool {
	return apihelpers.HasServedCRDVersion(d.CustomResourceDefinition, version)
}

func (d *establishedCRD) resource(version string) CustomResourceType {
	return CustomResourceType{
		GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: version, Kind: d.Status.AcceptedNames.Kind},
		CRD:              d.Name,
		UID:              d.UID,
		Generation:       d.Generation,
	}
}
