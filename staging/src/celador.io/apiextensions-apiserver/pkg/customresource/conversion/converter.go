// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Converter converts custom resources of one kind. It is immutable and safe for concurrent use. It plans the rules of
// a converter when it converts the first object with them.
type Converter struct{ definition *Definition }

// New returns the converter of a definition. It returns an error if the converters name unknown versions or do not
// determine one chain for each pair of versions, which Validate reports too.
func New(d *Definition) (*Converter, error) { return &Converter{d}, nil }

// Convert returns the object in another version. It does not change in. The result shares values with in, so that the
// caller must not use in any more when it changes the result, and the other way round; a result that must be
// independent has to be deep-copied. If the object already has the version, Convert returns in itself.
//
// The result has not been pruned: it still has the fields of in that the other version does not specify. Errors have the
// type *Error. Convert does not panic.
func (c *Converter) Convert(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return nil, errors.New("not implemented")
}
