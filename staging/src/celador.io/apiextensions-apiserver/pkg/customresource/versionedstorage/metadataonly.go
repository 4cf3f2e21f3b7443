// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import "context"

type metadataOnlyKey struct{}

// WithMetadataOnly returns a context for requests that need nothing but metadata. A VersionStorage
// then reads objects without their other fields, and evaluates only rules that write metadata.
func WithMetadataOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, metadataOnlyKey{}, true)
}

func isMetadataOnly(ctx context.Context) bool { return ctx.Value(metadataOnlyKey{}) != nil }
