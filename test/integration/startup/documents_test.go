// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "celador.io/api/apiextensions/v1"
	"celador.io/celador/test/integration/testserver"
)

// apiDir holds the OpenAPI and discovery documents from which clients are generated, in the
// layout of the Kubernetes repository.
var apiDir = filepath.Join("..", "..", "..", "api")

// The published documents describe what the server serves when everything is enabled. With
// UPDATE_API=1 the test rewrites them.
func TestDocuments(t *testing.T) {
	// With these gates the documents are like Kubernetes': without enums, with CBOR.
	server := testserver.Start(t, t.TempDir(), "--runtime-config=api/all=true", "--feature-gates=OpenAPIEnums=false,CBORServingAndStorage=true")
	client := clientsOf(server).Core.Discovery().RESTClient()
	const policies, definitions = "apis/" + group, "apis/" + apiextensionsv1.GroupName
	for _, path := range []string{policies, policies + "/v1", policies + "/v1beta1", policies + "/v1alpha1", definitions, definitions + "/v1"} {
		file := strings.ReplaceAll(path, "/", "__")
		for document, source := range map[string]string{
			filepath.Join("discovery", file+".json"):                  "/" + path,
			filepath.Join("openapi-spec", "v3", file+"_openapi.json"): "/openapi/v3/" + path,
		} {
			t.Run(filepath.ToSlash(document), func(t *testing.T) {
				served, err := client.Get().AbsPath(source).SetHeader("Accept", "application/json").DoRaw(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join(apiDir, document), canonical(t, served))
			})
		}
	}
}

// canonical returns an indented document with sorted keys and without the version of the server.
func canonical(t *testing.T, document []byte) []byte {
	t.Helper()
	var content map[string]any
	if err := json.Unmarshal(document, &content); err != nil {
		t.Fatal(err)
	}
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
	published, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(published), string(served)); diff != "" {
		t.Errorf("run UPDATE_API=1 go test ./test/integration/startup -run TestDocuments and look at what changes (-published +served):\n%s", diff)
	}
}
