// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/customresource/interning"
)

// Attributes are the labels and fields by which requests of all versions select objects of a shared
// storage. If they differ between versions, an object has those of each version, under names that
// begin with the version. They are computed when an object enters the watch cache, so the cache
// knows for watches in every version whether an update concerns them.
type Attributes struct {
	base     storage.AttrFunc
	versions []versionAttributes
}

type versionAttributes struct {
	gv        schema.GroupVersion
	read      storage.AttrFunc
	converter Converter
}

// of returns the labels and fields of an object in the version.
func (a versionAttributes) of(object *unstructured.Unstructured) (labels.Set, fields.Set, error) {
	if !hasVersion(object, a.gv) {
		converted, err := a.converter.ConvertObject(object.DeepCopy(), a.gv)
		if err != nil {
			return nil, nil, err
		}
		object = converted
	}
	return a.read(object)
}

// NewAttributes returns the attributes that objects have alike in all versions. base reads them.
func NewAttributes(base storage.AttrFunc) *Attributes { return &Attributes{base: base} }

// Add adds the attributes that objects have when c has converted them to a version; attributes
// reads them from the converted object. Add must not be called after the first call of Of.
func (a *Attributes) Add(gv schema.GroupVersion, attributes storage.AttrFunc, c Converter) {
	a.versions = append(a.versions, versionAttributes{gv, attributes, c})
}

// Of implements storage.AttrFunc.
func (a *Attributes) Of(object runtime.Object) (labels.Set, fields.Set, error) {
	allLabels, allFields, err := a.base(object)
	if err != nil || len(a.versions) == 0 {
		return allLabels, allFields, err
	}
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, nil, errNotUnstructured(object)
	}
	// The maps that base returns may be those of the object.
	allLabels, allFields = maps.Clone(allLabels), maps.Clone(allFields)
	for _, version := range a.versions {
		prefix := prefixOf(version.gv)
		own, ownFields, err := version.of(u)
		if err != nil {
			// The attributes are unknown if the object does not convert. They then match every
			// selector, so that each request that might select the object gets the error.
			if allLabels == nil {
				allLabels = labels.Set{}
			}
			allLabels[prefix], allFields[prefix] = "", ""
			continue
		}
		if allLabels == nil && len(own) > 0 {
			allLabels = labels.Set{}
		}
		for name, value := range own {
			allLabels[interning.Text(prefix+name)] = value
		}
		for name, value := range ownFields {
			if !isMetadataField(name) {
				allFields[interning.Text(prefix+name)] = value
			}
		}
	}
	return allLabels, allFields, nil
}

// has reports whether Add has added labels and fields that objects have in this version only.
func (a *Attributes) has(gv schema.GroupVersion) bool {
	return slices.ContainsFunc(a.versions, func(version versionAttributes) bool { return version.gv == gv })
}

// prefixOf returns the prefix of the names of a version's attributes. No name of a label or field
// begins with it.
func prefixOf(gv schema.GroupVersion) string { return gv.Version + "\x00" }

// predicate changes p, the predicate of a request in the version, so that it selects objects of the
// shared storage by the labels and fields that they have in that version.
func (a *Attributes) predicate(p storage.SelectionPredicate, gv schema.GroupVersion) storage.SelectionPredicate {
	p.GetAttrs = a.Of
	if !a.has(gv) {
		return p
	}
	prefix := prefixOf(gv)
	if p.Label != nil && !p.Label.Empty() {
		p.Label = labelSelector{p.Label, prefix}
	}
	if p.Field != nil && !p.Field.Empty() {
		p.Field = newFieldSelector(p.Field, prefix)
	}
	return p
}

// labelSelector selects by the labels that objects have in a version.
type labelSelector struct {
	labels.Selector
	prefix string
}

// Matches implements labels.Selector.
func (s labelSelector) Matches(l labels.Labels) bool {
	return l.Has(s.prefix) || s.Selector.Matches(prefixedLabels{l, s.prefix})
}

// DeepCopySelector implements labels.Selector.
func (s labelSelector) DeepCopySelector() labels.Selector {
	return labelSelector{s.Selector.DeepCopySelector(), s.prefix}
}

type prefixedLabels struct {
	labels.Labels
	prefix string
}

func (p prefixedLabels) Has(name string) bool              { return p.Labels.Has(p.prefix + name) }
func (p prefixedLabels) Get(name string) string            { return p.Labels.Get(p.prefix + name) }
func (p prefixedLabels) Lookup(name string) (string, bool) { return p.Labels.Lookup(p.prefix + name) }

// fieldSelector selects by the fields that objects have in a version.
type fieldSelector struct {
	fields.Selector
	// metadata contains those requirements of the selector that concern metadata, which objects
	// have in all versions. An object with unknown attributes matches if it satisfies these.
	metadata fields.Selector
	prefix   string
}

func newFieldSelector(selector fields.Selector, prefix string) fieldSelector {
	// Transform returns an error only if the function does.
	own, _ := selector.Transform(func(name, value string) (string, string, error) {
		if !isMetadataField(name) {
			name = prefix + name
		}
		return name, value, nil
	})
	metadata, _ := selector.Transform(func(name, value string) (string, string, error) {
		if !isMetadataField(name) {
			name, value = "", "" // removes the requirement
		}
		return name, value, nil
	})
	return fieldSelector{own, metadata, prefix}
}

// Matches implements fields.Selector.
func (s fieldSelector) Matches(f fields.Fields) bool {
	return s.Selector.Matches(f) || f.Has(s.prefix) && s.metadata.Matches(f)
}

// DeepCopySelector implements fields.Selector.
func (s fieldSelector) DeepCopySelector() fields.Selector {
	return fieldSelector{s.Selector.DeepCopySelector(), s.metadata.DeepCopySelector(), s.prefix}
}

// isMetadataField reports whether a field is the same in all versions.
func isMetadataField(name string) bool { return strings.HasPrefix(name, "metadata.") }
