// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var moduleBlock = regexp.MustCompile("(?ms)^```\n(module .*?)^```$")

// TestEmbeddingModule builds the example of the page in a module of its own, outside the workspace,
// with the go.mod of the page. It fails if the engine needs another module of the repository.
func TestEmbeddingModule(t *testing.T) {
	block := moduleBlock.FindStringSubmatch(read(t, "embedding.md"))
	if block == nil {
		t.Fatal("embedding.md has no go.mod")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": strings.ReplaceAll(block[1], "../celador/", root+"/"),
		"go.sum": read(t, "../staging/src/celador.io/admission/go.sum"),
	}
	for _, name := range []string{"main.go", "store.go", "policy.yaml"} {
		files[name] = read(t, filepath.Join("../examples/embedding", name))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", ".")
	command.Dir = dir
	// The versions of the engine's own go.mod suffice, so nothing is downloaded.
	command.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(dir, "checker")).CombinedOutput()
	if err != nil {
		t.Logf("the program ended with %v, as it does for a denial", err)
	}
	if text := strings.TrimSpace(string(output)); !strings.Contains(read(t, "embedding.md"), text) || text == "" {
		t.Errorf("the page does not show what the program prints: %s", text)
	}
}
