// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest loads admission policies from files on the server's disk (KEP-5793). Clients
// cannot change such policies, and they apply from the first request. Objects get the same defaults
// and validation as objects of the API, and must meet some additional constraints.
package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/manifest"
)

// A Loader decodes and validates the manifests of one admission plugin. All fields are required. It
// is safe for concurrent use.
type Loader[Policy, Binding APIObject] struct {
	Policies Descriptor[Policy]
	Bindings Descriptor[Binding]
	// PolicyName returns the name of a binding's policy.
	PolicyName func(Binding) string
	// IsSingleton reports whether a policy takes effect without a binding.
	IsSingleton func(Policy) bool
}

// Contents are the objects of all manifests of a directory. Both slices are sorted by name.
type Contents[Policy, Binding APIObject] struct {
	Policies []Policy
	Bindings []Binding
}

// All returns the policies and then the bindings.
func (s Contents[Policy, Binding]) All() []runtime.Object {
	var all []runtime.Object
	for _, p := range s.Policies {
		all = append(all, p)
	}
	for _, b := range s.Bindings {
		all = append(all, b)
	}
	return all
}

// Load returns the objects of the documents, with defaults. It returns an error that names the file
// of the first invalid document, and an error for a binding whose policy is in none of the
// documents, or is a Singleton.
func (l *Loader[Policy, Binding]) Load(documents []manifest.FileDoc) (Contents[Policy, Binding], error) {
	policies, bindings := newCollection(l.Policies, l.checkPolicy), newCollection(l.Bindings, l.checkBinding)
	for _, document := range documents {
		err := decode(document.Doc, func(object runtime.Object) error {
			added, err := policies.add(object, document.FilePath)
			if !added && err == nil {
				added, err = bindings.add(object, document.FilePath)
			}
			if !added && err == nil {
				err = fmt.Errorf("unsupported resource type %T", object)
			}
			return err
		})
		if err != nil {
			return Contents[Policy, Binding]{}, fmt.Errorf("error loading %s: %w", document.FilePath, err)
		}
	}
	if err := l.checkReferences(policies.objects, bindings.objects); err != nil {
		return Contents[Policy, Binding]{}, err
	}
	return Contents[Policy, Binding]{policies.sorted(), bindings.sorted()}, nil
}

// A collection holds the objects of one kind.
type collection[T APIObject] struct {
	Descriptor[T]
	check   func(T) error
	objects []T
	// files maps the names of objects to their files.
	files map[string]string
}

func newCollection[T APIObject](descriptor Descriptor[T], check func(T) error) *collection[T] {
	return &collection[T]{Descriptor: descriptor, check: check, files: map[string]string{}}
}

// add adds the objects of a decoded document to the collection. It returns false if they are not of
// the kind of the collection, and an error if one of them is invalid.
func (c *collection[T]) add(decoded runtime.Object, file string) (added bool, err error) {
	items, added := c.Items(decoded)
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
	return added, nil
}

func (c *collection[T]) sorted() []T {
	return slices.SortedFunc(slices.Values(c.objects), func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}
