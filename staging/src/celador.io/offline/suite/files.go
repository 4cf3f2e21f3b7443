// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"

	"celador.io/offline/manifest"
)

// Files returns the files that the suite and its manifests and objects are from, in lexical order.
func (t *Test) Files() []string {
	files := map[string]bool{t.Position.File: true}
	add := func(objects []object) {
		for _, o := range objects {
			files[o.document.Position("").File] = true
		}
	}
	add(t.objects)
	for i := range t.cases {
		c := &t.cases[i]
		add(c.objects)
		for _, document := range []*manifest.Document{c.object, c.oldObject} {
			if document != nil {
				files[document.Position("").File] = true
			}
		}
	}
	return keys(files)
}

// FilesOf returns the files that the errors of Load name, in lexical order.
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
