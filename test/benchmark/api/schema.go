// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// Describe lets the server serve the OpenAPI document of a group version, which it takes from
// documents. It returns an error if documents does not have it.
func (s *Server) Describe(documents openapi.Client, version schema.GroupVersion) error {
	path := "apis/" + version.String()
	if version.Group == "" {
		path = "api/" + version.Version
	}
	known, err := documents.Paths()
	if err != nil {
		return fmt.Errorf("schemas: %w", err)
	}
	document, found := known[path]
	if !found {
		return fmt.Errorf("there is no schema of %s", version)
	}
	text, err := document.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", version, err)
	}
	const root = "/openapi/v3"
	index, err := json.Marshal(map[string]any{
		"paths": map[string]any{path: map[string]string{"serverRelativeURL": root + "/" + path + "?hash=1"}},
	})
	s.answers[root], s.answers[root+"/"+path] = index, text
	return err
}
