// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// A snapshot holds the documents that the server published at the time of a poll. It is immutable.
type snapshot struct {
	// documents is nil before the server's first answer.
	documents map[schema.GroupVersion]*document
	// replaced is closed after a newer snapshot is stored.
	replaced chan struct{}
}

func newSnapshot(documents map[schema.GroupVersion]*document) *snapshot {
	return &snapshot{documents, make(chan struct{})}
}

// types returns nil for a group version whose document is not published or has not been read.
func (s *snapshot) types(version schema.GroupVersion) *typeSet {
	if d := s.documents[version]; d != nil {
		return d.types.Load()
	}
	return nil
}

// update returns the documents that the server publishes at the given paths. It takes those that
// have not changed from s, unless reading them has failed. want tells what the types of the other
// documents consist of: converters or schemas.
func (s *snapshot) update(ctx context.Context, want content, paths map[string]openapi.GroupVersionWithContext) map[schema.GroupVersion]*document {
	documents := make(map[schema.GroupVersion]*document, len(paths))
	for path, published := range paths {
		version, ok := versionOf(path)
		if !ok {
			continue
		}
		d := s.documents[version]
		if d == nil || d.url != published.ServerRelativeURL() || d.failed() {
			d = newDocument(ctx, version, published, want, d)
		}
		documents[version] = d
	}
	return documents
}

// versionOf returns the group version of a path. It returns false for paths without a version, such
// as the paths of groups.
func versionOf(path string) (schema.GroupVersion, bool) {
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 2 && parts[0] == "api":
		return schema.GroupVersion{Version: parts[1]}, true
	case len(parts) == 3 && parts[0] == "apis":
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, true
	}
	return schema.GroupVersion{}, false
}
