// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest keeps the admission policies in effect that a server has in files
// on its disk (KEP-5793). No client can change them, and they exist before the first
// request does. Objects have the defaults and obey the rules of those that clients
// write, and some rules of their own.
package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/manifest"
)

// Loader reads the manifests of one admission plugin. Safe for concurrent use.
type Loader[P, B Object] struct {
	Policies Kind[P]
	Bindings Kind[B]
	// PolicyName returns the name of a binding's policy.
	PolicyName func(B) string
}

// Set is everything that the manifests of a directory hold, both lists sorted by name.
type Set[P, B Object] struct {
	Policies []P
	Bindings []B
}

// Load returns what the documents hold. The first document with anything wrong in it
// is an error that names its file; so is a binding to a policy that is in none of them.
func (l *Loader[P, B]) Load(documents []manifest.FileDoc) (Set[P, B], error) {
	policies, bindings := newCollection(l.Policies, l.checkPolicy), newCollection(l.Bindings, l.checkBinding)
	for _, document := range documents {
		err := decode(document.Doc, func(object runtime.Object) error {
			taken, err := policies.take(object, document.FilePath)
			if !taken && err == nil {
				taken, err = bindings.take(object, document.FilePath)
			}
			if !taken && err == nil {
				err = fmt.Errorf("unsupported resource type %T", object)
			}
			return err
		})
		if err != nil {
			return Set[P, B]{}, fmt.Errorf("error loading %s: %w", document.FilePath, err)
		}
	}
	if err := l.checkReferences(policies.objects, bindings.objects); err != nil {
		return Set[P, B]{}, err
	}
	return Set[P, B]{policies.sorted(), bindings.sorted()}, nil
}

// collection is what was found of one kind.
type collection[T Object] struct {
	Kind[T]
	check   func(T) error
	objects []T
	// files are where the objects were found, by name.
	files map[string]string
}

func newCollection[T Object](kind Kind[T], check func(T) error) *collection[T] {
	return &collection[T]{Kind: kind, check: check, files: map[string]string{}}
}

// take adds the objects in something decoded, if they are of the kind.
func (c *collection[T]) take(decoded runtime.Object, file string) (taken bool, err error) {
	items, taken := c.Items(decoded)
	for _, item := range items {
		scheme.Default(item)
		if errs := c.Validate(item); len(errs) > 0 {
			return false, fmt.Errorf("%s %q: %w", c.Name, item.GetName(), errs.ToAggregate())
		}
	}
	for _, item := range items {
		if err := manifest.ValidateManifestName(item.GetName(), file, c.files); err != nil {
			return false, err
		}
		if err := c.check(item); err != nil {
			return false, err
		}
	}
	c.objects = append(c.objects, items...)
	return taken, nil
}

func (c *collection[T]) sorted() []T {
	return slices.SortedFunc(slices.Values(c.objects), func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}
