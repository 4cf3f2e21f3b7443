// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apiextensionsv1 "celador.io/api/apiextensions/v1"
	"celador.io/celador/test/integration/testserver"
)

// apiDir holds the OpenAPI and discovery documents from which clients are generated, in the layout
// of the Kubernetes repository. Documents of all groups contain only those that Celador implements.
var apiDir = filepath.Join("..", "..", "..", "api")

// The published documents describe what the server serves when everything is enabled. With
// UPDATE_API=1 the test rewrites them.
func TestDocuments(t *testing.T) {
	// With these gates the documents are like Kubernetes': without enums, with CBOR.
	server := testserver.Start(t, t.TempDir(), "--runtime-config=api/all=true", "--feature-gates=OpenAPIEnums=false,CBORServingAndStorage=true")
	client := clientsOf(server).Core.Discovery().RESTClient()
	const policies, definitions = "apis/" + group, "apis/" + apiextensionsv1.GroupName
	documents := []document{
		{file: "discovery/apis.json", source: "/apis", keep: keepGroups("groups")},
		{file: "discovery/aggregated_v2.json", source: "/apis", accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", keep: keepGroups("items")},
		{file: "openapi-spec/swagger.json", source: "/openapi/v2", keep: keepPaths},
	}
	for _, path := range []string{policies, policies + "/v1", policies + "/v1beta1", policies + "/v1alpha1", definitions, definitions + "/v1"} {
		file := strings.ReplaceAll(path, "/", "__")
		documents = append(documents,
			document{file: "discovery/" + file + ".json", source: "/" + path},
			document{file: "openapi-spec/v3/" + file + "_openapi.json", source: "/openapi/v3/" + path})
	}
	for _, document := range documents {
		t.Run(document.file, func(t *testing.T) {
			served, err := client.Get().AbsPath(document.source).SetHeader("Accept", cmp.Or(document.accept, "application/json")).DoRaw(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var content map[string]any
			if err := json.Unmarshal(served, &content); err != nil {
				t.Fatal(err)
			}
			if document.keep != nil {
				document.keep(content)
			}
			compare(t, filepath.Join(apiDir, filepath.FromSlash(document.file)), canonical(t, content))
		})
	}
}

// A document is a file that a server publishes.
type document struct {
	// file is the path in apiDir.
	file string
	// source is the path on the server.
	source string
	// accept is the media type to ask for. If it is empty, it is JSON.
	accept string
	// keep removes the content that is about other groups. Nil if there is none.
	keep func(content map[string]any)
}

// published are the groups that the documents are about.
var published = []string{group, apiextensionsv1.GroupName}

// keepGroups returns a function that keeps the published groups in a list of groups.
func keepGroups(list string) func(content map[string]any) {
	return func(content map[string]any) {
		groups, _ := content[list].([]any)
		content[list] = slices.DeleteFunc(groups, func(item any) bool {
			name, _, _ := unstructured.NestedString(item.(map[string]any), "name")
			inMetadata, _, _ := unstructured.NestedString(item.(map[string]any), "metadata", "name")
			return !slices.Contains(published, cmp.Or(name, inMetadata))
		})
	}
}

// keepPaths keeps the paths of the published groups in an OpenAPI v2 document, and the definitions
// and parameters that they refer to.
func keepPaths(content map[string]any) {
	paths, _ := content["paths"].(map[string]any)
	maps.DeleteFunc(paths, func(path string, _ any) bool {
		return !slices.ContainsFunc(published, func(group string) bool { return strings.HasPrefix(path, "/apis/"+group+"/") })
	})
	kept := map[string]bool{}
	keepReferred(content, paths, kept)
	for _, section := range []string{"definitions", "parameters"} {
		referred, _ := content[section].(map[string]any)
		maps.DeleteFunc(referred, func(name string, _ any) bool { return !kept["#/"+section+"/"+name] })
	}
}

// keepReferred adds the references in a value of a document to kept, with those in what they refer
// to.
func keepReferred(document map[string]any, value any, kept map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			keepReferred(document, item, kept)
		}
	case map[string]any:
		if reference, ok := value["$ref"].(string); ok && !kept[reference] {
			kept[reference] = true
			referred, _, _ := unstructured.NestedFieldNoCopy(document, strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
			keepReferred(document, referred, kept)
		}
		for _, item := range value {
			keepReferred(document, item, kept)
		}
	}
}

// canonical returns an indented document with sorted keys and without the version of the server.
func canonical(t *testing.T, content map[string]any) []byte {
	t.Helper()
	if info, ok := content["info"].(map[string]any); ok {
		info["version"] = "unversioned"
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(content); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func compare(t *testing.T, file string, served []byte) {
	t.Helper()
	if os.Getenv("UPDATE_API") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, served, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(stored), string(served)); diff != "" {
		t.Errorf("run UPDATE_API=1 go test ./test/integration/startup -run TestDocuments and look at what changes (-published +served):\n%s", diff)
	}
}
