// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package foreign reads the test suites of other tools for admission policies, and converts them to
// native suites. A converted suite states what the original states; its results are those of a
// server, which may differ from those of the other tool. Notes of the cases say why.
package foreign

import (
	"errors"

	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// Formats returns the formats of other tools, for a suite.Loader.
func Formats() []suite.Format {
	return []suite.Format{Kubescape{}, Kaptest{}, Kyverno{}, Gatekeeper{}}
}

// convertEach converts each document of a file with convert, and returns the suites.
func convertEach(file string, convert func(file string, document *manifest.Document) ([]*manifest.Document, error)) ([]*manifest.Document, error) {
	documents, err := manifest.Read(file)
	if err != nil {
		return nil, err
	}
	return collect(documents, func(_ int, document *manifest.Document) ([]*manifest.Document, error) { return convert(file, document) })
}

// collect calls convert for each item, and returns all suites and the joined errors.
func collect[T any](items []T, convert func(i int, item T) ([]*manifest.Document, error)) ([]*manifest.Document, error) {
	var converted []*manifest.Document
	var errs []error
	for i, item := range items {
		suites, err := convert(i, item)
		converted, errs = append(converted, suites...), append(errs, err)
	}
	return converted, errors.Join(errs...)
}
