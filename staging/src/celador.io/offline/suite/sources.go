// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// An object is a manifest of a suite, with the document from which it was read.
type object struct {
	document *manifest.Document
	content  *unstructured.Unstructured
}

func (o object) isPolicy() bool {
	return cluster.IsPolicy(o.content.GroupVersionKind().GroupKind())
}

// overlay returns the objects that a case has. objects are the manifests of the suite, and over
// those of the case. If both have an object of the same type, namespace and name, it returns only
// that of the case.
func overlay(objects, over []object) []object {
	replaced := map[cluster.Identity]bool{}
	for _, o := range over {
		replaced[cluster.Identify(o.content)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return replaced[cluster.Identify(o.content)] })
	return append(kept, over...)
}

// manifests returns the objects of a list of manifests at the field path. Two of the same type,
// namespace and name are an error.
func (l *loader) manifests(path string, sources []Manifest) []object {
	var objects []object
	first := map[cluster.Identity]object{}
	for i := range sources {
		field := fmt.Sprintf("%s[%d]", path, i)
		for _, document := range l.documents(field, &sources[i], true) {
			content := l.content(document)
			if content == nil {
				continue
			}
			o := object{document, content}
			if name, found, _ := unstructured.NestedFieldNoCopy(content.Object, "metadata", "name"); found && content.GetName() == "" {
				l.check(document.Errorf("metadata.name", "must be a string, not %s: put quotes around it", toJSON(name)))
			} else if !found {
				l.check(document.Errorf("metadata.name", "required: objects of the cluster have a name"))
			} else if other, found := first[cluster.Identify(o.content)]; found {
				l.check(document.Errorf("metadata.name", "%s %q is already in %s", content.GetKind(), content.GetName(), other.document.Position("")))
			} else {
				first[cluster.Identify(o.content)] = o
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// content returns the object in a document. It returns nil if the document is nil. On an error,
// which it adds to those of the loader, it also returns nil.
func (l *loader) content(document *manifest.Document) *unstructured.Unstructured {
	if document == nil {
		return nil
	}
	content, err := document.Object()
	l.check(err)
	return content
}

// partial returns the object of a document that describes only a part of an object, and so may lack
// apiVersion and kind. It returns nil if document is nil. On an error, which it adds to those of
// the loader, it also returns nil.
func (l *loader) partial(document *manifest.Document) *unstructured.Unstructured {
	if document == nil {
		return nil
	}
	content := map[string]any{}
	if !l.check(document.Decode(&content)) {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// only returns the document of a manifest that must have exactly one object. It returns nil if
// source is nil. On an error, which it adds to those of the loader, it also returns nil.
func (l *loader) only(path string, source *Manifest) *manifest.Document {
	if source == nil {
		return nil
	}
	failed := len(l.errs)
	documents := l.documents(path, source, false)
	switch {
	case len(documents) == 1:
		return documents[0]
	case len(l.errs) == failed:
		l.fail(path, "the file %s has %d objects, want 1", source.Path, len(documents))
	}
	return nil
}

// documents returns a document for each object of a manifest at the field path. If many is set, the
// path of its file may be a pattern. Lists are replaced by their items.
func (l *loader) documents(path string, source *Manifest, many bool) []*manifest.Document {
	var documents []*manifest.Document
	if source.Path == "" {
		if len(source.Inline) == 0 || source.Inline[0] != '{' {
			l.fail(path, "must be an object, or the path of a file with one")
			return nil
		}
		documents = []*manifest.Document{l.document.Field(path, source.Inline)}
	} else {
		files, err := files(l.directory, source.Path, many)
		if err != nil {
			l.fail(path, "%v", err)
		}
		for _, file := range files {
			read, err := manifest.Read(file)
			var located *manifest.Error
			if errors.As(err, &located) {
				l.check(err)
			} else if err != nil {
				l.fail(path, "%v", err)
			}
			documents = append(documents, read...)
		}
		// A pattern such as *.yaml may also match the file of the suite, which is no manifest.
		if many && len(files) > 1 {
			documents = slices.DeleteFunc(documents, IsSuite)
		}
	}
	var items []*manifest.Document
	for item, err := range manifest.Items(documents) {
		if l.check(err) {
			items = append(items, item)
		}
	}
	return items
}
