// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// byKind is an index of the definitions in use by the kind of their resources.
const byKind = "celador.io/kind"

// definitions are the custom resource definitions in use. Each keeps the schemas that
// were asked for as long as it stays the same.
type definitions struct {
	indexer cache.Indexer // nil when there are none
	// objectMeta is the schema of metadata.
	objectMeta func() *spec.Schema

	lock sync.Mutex
	used map[string]*definition
}

// definition is a definition in use. Its methods are safe for concurrent use.
type definition struct {
	*apiextensionsv1.CustomResourceDefinition
	objectMeta func() *spec.Schema

	lock    sync.Mutex
	schemas map[string]*spec.Schema
}

func newDefinitions(informer apiextensionsinformers.CustomResourceDefinitionInformer, objectMeta func() *spec.Schema) (*definitions, error) {
	d := &definitions{objectMeta: objectMeta, used: map[string]*definition{}}
	if informer == nil {
		return d, nil
	}
	shared := informer.Informer()
	if err := shared.AddIndexers(cache.Indexers{byKind: kindOf}); err != nil {
		return nil, err
	}
	d.indexer = shared.GetIndexer()
	_, err := shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, current any) {
			if before, after := old.(*apiextensionsv1.CustomResourceDefinition), current.(*apiextensionsv1.CustomResourceDefinition); Differ(before, after) {
				d.forget(before.Name)
			}
		},
		DeleteFunc: func(object any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion of a custom resource definition: %w", err))
				return
			}
			d.forget(name)
		},
	})
	return d, err
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

// Differ tells whether two states of a custom resource definition differ in what is
// served.
func Differ(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID != b.UID || a.Generation != b.Generation || inUse(a) != inUse(b) || a.Status.AcceptedNames.Kind != b.Status.AcceptedNames.Kind
}

func (d *definitions) forget(name string) {
	d.lock.Lock()
	defer d.lock.Unlock()
	delete(d.used, name)
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
	if known := d.used[name]; known != nil && !Differ(known.CustomResourceDefinition, crd) {
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
