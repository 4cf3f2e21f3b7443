// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Deletions are remembered up to a number and for some time. Whoever does not know of one has
// to ask the store.
const (
	maxGone  = 1000
	goneTime = 24 * time.Hour
)

// byKind is an index of the definitions in use by the kind of their resources.
const byKind = "celador.io/kind"

// definitions are the custom resource definitions in use. Each keeps the schemas that
// were asked for as long as it stays the same.
type definitions struct {
	indexer cache.Indexer // nil when there are none
	// objectMeta is the schema of metadata.
	objectMeta func() *spec.Schema
	synced     cache.InformerSynced

	lock sync.Mutex
	used map[string]*definition
	// gone has the UIDs of deleted definitions.
	gone *utilcache.LRUExpireCache
}

// definition is a definition in use. Its methods are safe for concurrent use.
type definition struct {
	*apiextensionsv1.CustomResourceDefinition
	objectMeta func() *spec.Schema

	lock    sync.Mutex
	schemas map[string]*spec.Schema
}

// newDefinitions calls changed with a definition that appears, with its states before and
// after a change of what is served, and when it is gone.
func newDefinitions(informer apiextensionsinformers.CustomResourceDefinitionInformer, objectMeta func() *spec.Schema, changed func(*apiextensionsv1.CustomResourceDefinition)) (*definitions, error) {
	d := &definitions{objectMeta: objectMeta, synced: func() bool { return true }, used: map[string]*definition{}, gone: utilcache.NewLRUExpireCache(maxGone)}
	if informer == nil {
		return d, nil
	}
	shared := informer.Informer()
	if err := shared.AddIndexers(cache.Indexers{byKind: kindOf}); err != nil {
		return nil, err
	}
	d.indexer = shared.GetIndexer()
	registration, err := shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { changed(object.(*apiextensionsv1.CustomResourceDefinition)) },
		UpdateFunc: func(old, current any) {
			before, after := old.(*apiextensionsv1.CustomResourceDefinition), current.(*apiextensionsv1.CustomResourceDefinition)
			if differ(before, after) {
				d.forget(before, before.UID != after.UID)
				changed(before)
				changed(after)
			}
		},
		DeleteFunc: func(object any) {
			if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = deleted.Obj
			}
			crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
			if !ok {
				utilruntime.HandleError(fmt.Errorf("deletion of a custom resource definition: got %T", object))
				return
			}
			d.forget(crd, true)
			changed(crd)
		},
	})
	if err != nil {
		return nil, err
	}
	d.synced = registration.HasSynced
	return d, nil
}

func kindOf(object any) ([]string, error) {
	if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok && inUse(crd) {
		return []string{schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind}.String()}, nil
	}
	return nil, nil
}

func inUse(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// differ tells whether two states of a custom resource definition differ in what is
// served.
func differ(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID != b.UID || a.Generation != b.Generation || inUse(a) != inUse(b) || a.Status.AcceptedNames.Kind != b.Status.AcceptedNames.Kind
}

func (d *definitions) forget(crd *apiextensionsv1.CustomResourceDefinition, gone bool) {
	d.lock.Lock()
	defer d.lock.Unlock()
	delete(d.used, crd.Name)
	if gone {
		d.gone.Add(crd.UID, nil, goneTime)
	}
}

// named returns nil when no definition of that name is in use.
func (d *definitions) named(name string) *definition {
	if d.indexer == nil {
		return nil
	}
	// Events follow changes of the indexer. Under the lock, what is remembered here is
	// forgotten by the event that comes.
	d.lock.Lock()
	defer d.lock.Unlock()
	object, exists, err := d.indexer.GetByKey(name)
	if err != nil || !exists {
		return nil
	}
	crd := object.(*apiextensionsv1.CustomResourceDefinition)
	if !inUse(crd) {
		return nil
	}
	if known := d.used[name]; known != nil && !differ(known.CustomResourceDefinition, crd) {
		return known
	}
	found := &definition{CustomResourceDefinition: crd, objectMeta: d.objectMeta, schemas: map[string]*spec.Schema{}}
	d.used[name] = found
	return found
}

// version returns the resourceVersion of a definition, in use or not.
func (d *definitions) version(name string) string {
	if d.indexer == nil {
		return ""
	}
	object, exists, err := d.indexer.GetByKey(name)
	if err != nil || !exists {
		return ""
	}
	return object.(*apiextensionsv1.CustomResourceDefinition).ResourceVersion
}

// ofKind returns nil when no definition in use has the kind.
func (d *definitions) ofKind(kind schema.GroupKind) *definition {
	if d.indexer == nil {
		return nil
	}
	names, err := d.indexer.IndexKeys(byKind, kind.String())
	if err != nil || len(names) == 0 {
		return nil
	}
	return d.named(names[0])
}

// schema returns nil for a version that is not served.
func (d *definition) schema(version string) *spec.Schema {
	d.lock.Lock()
	defer d.lock.Unlock()
	if known, ok := d.schemas[version]; ok {
		return known
	}
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Name == version && v.Served {
			d.schemas[version] = resourceSchema(d.CustomResourceDefinition, v, d.objectMeta())
		}
	}
	return d.schemas[version]
}

func (d *definition) serves(version string) bool {
	return apihelpers.HasServedCRDVersion(d.CustomResourceDefinition, version)
}

func (d *definition) resource(version string) CustomResource {
	return CustomResource{
		GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: version, Kind: d.Status.AcceptedNames.Kind},
		Definition:       d.Name,
		UID:              d.UID,
		Generation:       d.Generation,
	}
}
