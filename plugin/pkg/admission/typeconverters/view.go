// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// view is what a server publishes at some time. Immutable.
type view struct {
	// documents is nil while the server has not answered yet.
	documents map[schema.GroupVersion]*document
	// next is closed when there is another view.
	next chan struct{}
}

func newView(documents map[schema.GroupVersion]*document) *view {
	return &view{documents, make(chan struct{})}
}

// types returns nil for a group version whose document has not been read.
func (v *view) types(version schema.GroupVersion) *types {
	if d := v.documents[version]; d != nil {
		return d.types.Load()
	}
	return nil
}

// update returns the documents at the given paths. Those that are the same as before, and
// have not failed, are kept.
func (v *view) update(ctx context.Context, paths map[string]openapi.GroupVersionWithContext) map[schema.GroupVersion]*document {
	documents := make(map[schema.GroupVersion]*document, len(paths))
	for path, published := range paths {
		version, ok := versionOf(path)
		if !ok {
			continue
		}
		d := v.documents[version]
		if d == nil || d.url != published.ServerRelativeURL() || d.failed() {
			d = newDocument(ctx, version, published, d)
		}
		documents[version] = d
	}
	return documents
}

// versionOf returns the group version that a path is of. There are also paths of groups, and
// of what is no API.
func versionOf(path string) (schema.GroupVersion, bool) {
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 2 && parts[0] == "api":
		return schema.GroupVersion{Version: parts[1]}, true
	case len(parts) == 3 && parts[0] == "apis":
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, true
	}
	return schema.GroupVersion{}, false
}
