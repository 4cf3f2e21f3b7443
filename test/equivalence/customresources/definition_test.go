// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// A definition is the JSON form of a CustomResourceDefinition.
type definition map[string]any

func (d definition) spec() map[string]any       { return object(d, "spec") }
func (d definition) name() string               { return text(d, "metadata", "name") }
func (d definition) group() string              { return text(d, "spec", "group") }
func (d definition) kind() string               { return text(d, "spec", "names", "kind") }
func (d definition) plural() string             { return text(d, "spec", "names", "plural") }
func (d definition) namespaced() bool           { return text(d, "spec", "scope") == "Namespaced" }
func (d definition) byWebhook() bool            { return text(d, "spec", "conversion", "strategy") == "Webhook" }
func (d definition) apiVersion(v string) string { return d.group() + "/" + v }

func (d definition) versions() []map[string]any {
	var versions []map[string]any
	for _, v := range list(d, "spec", "versions") {
		versions = append(versions, v.(map[string]any))
	}
	return versions
}

// served returns the names of the served versions.
func (d definition) served() []string {
	var names []string
	for _, v := range d.versions() {
		if v["served"] == true {
			names = append(names, text(v, "name"))
		}
	}
	return names
}

func (d definition) storageVersion() string {
	versions := d.versions()
	return text(versions[slices.IndexFunc(versions, func(v map[string]any) bool { return v["storage"] == true })], "name")
}

// schema returns the schema of a version, or an empty one if the definition has none.
func (d definition) schema(version string) map[string]any {
	for _, v := range d.versions() {
		if text(v, "name") == version {
			return object(v, "schema", "openAPIV3Schema")
		}
	}
	return nil
}

// selectable returns the paths of the selectable fields of a version.
func (d definition) selectable(version string) []string {
	var paths []string
	for _, v := range d.versions() {
		if text(v, "name") == version {
			for _, field := range list(v, "selectableFields") {
				paths = append(paths, text(field.(map[string]any), "jsonPath"))
			}
		}
	}
	return paths
}

// path returns the path of the collection in a namespace.
func (d definition) path(version, namespace string) string {
	if d.namespaced() && namespace != "" {
		return "/apis/" + d.apiVersion(version) + "/namespaces/" + namespace + "/" + d.plural()
	}
	return "/apis/" + d.apiVersion(version) + "/" + d.plural()
}

// create returns the request that creates the definition.
func (d definition) create() request {
	return request{Method: "POST", Path: definitionsPath, ContentType: "application/json", Body: encode(d)}
}

// definition returns a definition as the server has it, or nil if there is none.
func (s *server) definition(t testing.TB, name string) definition {
	t.Helper()
	response, err := s.client.Get(s.url + definitionsPath + "/" + name)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil
	}
	var d definition
	must(t, json.NewDecoder(response.Body).Decode(&d))
	return d
}

// established reports whether the server has established the definition.
func (s *server) established(t testing.TB, name string) bool {
	t.Helper()
	for _, condition := range list(s.definition(t, name), "status", "conditions") {
		if text(condition, "type") == "Established" && text(condition, "status") == "True" {
			return true
		}
	}
	return false
}

// at returns the value at a path of keys, or nil.
func at(value any, path ...string) any {
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			if d, isDefinition := value.(definition); isDefinition {
				m = d
			}
		}
		value = m[key]
	}
	return value
}

func object(value any, path ...string) map[string]any {
	m, _ := at(value, path...).(map[string]any)
	return m
}

func list(value any, path ...string) []any {
	l, _ := at(value, path...).([]any)
	return l
}

func text(value any, path ...string) string {
	s, _ := at(value, path...).(string)
	return s
}

// clone returns a deep copy of a JSON value.
func clone[T any](value T) T {
	var copied T
	if err := json.Unmarshal(encode(value), &copied); err != nil {
		panic(err)
	}
	return copied
}

func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}
