// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"slices"

	"celador.io/offline/manifest"
)

// Files returns the file of the suite and the files from which its manifests and the objects of its
// requests and expectations were read, in lexical order.
func (t *Test) Files() []string {
	files := map[string]bool{t.Position.File: true}
	for o := range t.manifests {
		files[o.document.Position("").File] = true
	}
	for _, c := range t.cases {
		for _, document := range []*manifest.Document{c.object, c.oldObject, c.expectedObject} {
			if document != nil {
				files[document.Position("").File] = true
			}
		}
	}
	return keys(files)
}

// manifests yields the manifests of the suite, and those of each case.
func (t *Test) manifests(yield func(object) bool) {
	all := t.objects
	for _, c := range t.cases {
		all = slices.Concat(all, c.objects)
	}
	slices.Values(all)(yield)
}

// FilesOf returns the files to which the errors in an error of Load refer, in lexical order.
func FilesOf(err error) []string {
	files := map[string]bool{}
	for _, err := range manifest.Errors(err) {
		var located *manifest.Error
		if errors.As(err, &located) {
			files[located.Position.File] = true
		}
	}
	return keys(files)
}
