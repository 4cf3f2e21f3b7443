// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/spdx/tools-golang/json"
)

const (
	version = "v1.37.1+celador.0.1.0"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	tag     = "example.com/celador-webhook:v1.37.1_celador.0.1.0"
	command = "celador-webhook"
)

var created = time.Unix(1700000000, 0).UTC()

// compile builds a program for a platform in a directory of its own, and returns its path.
func compile(t *testing.T, system, architecture string) string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", command, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, command)
}

// pack writes an image of a program, and returns the paths of the archive and the SPDX document.
func pack(t *testing.T, program string) (archive, bill string) {
	t.Helper()
	dir := t.TempDir()
	archive, bill = filepath.Join(dir, "image.tar"), filepath.Join(dir, "image.spdx.json")
	r := request{binary: program, version: version, revision: commit, tag: tag, description: "A webhook", user: "65532:65532", created: created, output: archive, sbom: bill}
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	return archive, bill
}

func TestImage(t *testing.T) {
	for _, architecture := range []string{"amd64", "arm64"} {
		t.Run(architecture, func(t *testing.T) {
			program := compile(t, "linux", architecture)
			archive, bill := pack(t, program)
			reference, err := name.NewTag(tag)
			if err != nil {
				t.Fatal(err)
			}
			image, err := tarball.ImageFromPath(archive, &reference)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(image); err != nil {
				t.Error(err)
			}
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if config.OS != "linux" || config.Architecture != architecture || !config.Created.Equal(created) {
				t.Errorf("the image is for %s/%s, created %v", config.OS, config.Architecture, config.Created)
			}
			for label, want := range map[string]string{"version": version, "revision": commit, "title": command, "description": "A webhook"} {
				if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
					t.Errorf("the label %s is %q, want %q", label, got, want)
				}
			}
			if got := fmt.Sprintf("%s %s %s", config.Config.Entrypoint, config.Config.Env, config.Config.User); got != "[/usr/local/bin/celador-webhook] [PATH=/usr/local/bin] 65532:65532" {
				t.Errorf("entry point, environment and user are %s", got)
			}

			files := map[string]string{}
			var content []byte
			reader := tar.NewReader(mutate.Extract(image))
			for {
				header, err := reader.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if !header.ModTime.Equal(created) {
					t.Errorf("%s has the time %v", header.Name, header.ModTime)
				}
				files[strings.TrimSuffix(header.Name, "/")] = fmt.Sprintf("%o %d:%d", header.Mode, header.Uid, header.Gid)
				if header.Name == "usr/local/share/sbom/celador-webhook.spdx.json" {
					if content, err = io.ReadAll(reader); err != nil {
						t.Fatal(err)
					}
				}
			}
			for path, want := range map[string]string{
				"usr/local/bin/celador-webhook": "755 0:0", "tmp": "1777 0:0", "etc/passwd": "644 0:0", "usr/local/bin": "755 0:0",
			} {
				if files[path] != want {
					t.Errorf("%s has mode and owner %q, want %s", path, files[path], want)
				}
			}
			beside, err := os.ReadFile(bill)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(content, beside) {
				t.Error("the image has another SPDX document than the file")
			}
		})
	}
}

func TestSBOM(t *testing.T) {
	_, bill := pack(t, compile(t, "linux", "amd64"))
	file, err := os.Open(bill)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	document, err := json.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	urls := map[string]bool{}
	for _, p := range document.Packages {
		for _, reference := range p.PackageExternalReferences {
			urls[reference.Locator] = true
		}
	}
	if len(document.Packages) != 3 || !urls["pkg:golang/example.com/program@v1.37.1%2Bcelador.0.1.0"] {
		t.Errorf("%d packages, with the URLs %v", len(document.Packages), urls)
	}
	if len(document.Packages[0].PackageChecksums) != 1 || len(document.Relationships) != 3 {
		t.Errorf("the program has the checksums %v, and there are %d relationships", document.Packages[0].PackageChecksums, len(document.Relationships))
	}
}

// TestReproducible packs two builds of one program in different directories.
func TestReproducible(t *testing.T) {
	var archives [2][]byte
	for i := range archives {
		archive, _ := pack(t, compile(t, "linux", "amd64"))
		content, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = content
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the archives differ")
	}
}

func TestUnusable(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("hello"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ program, tag, want string }{
		"missing":         {filepath.Join(t.TempDir(), "none"), tag, "no such file"},
		"no program":      {text, tag, "is not a Go program"},
		"other system":    {compile(t, "darwin", "arm64"), tag, "build it with GOOS=linux"},
		"plus in the tag": {text, "example.com/celador-webhook:" + version, "tag"},
		"no tag":          {text, "", "tag must"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := request{binary: test.program, version: version, tag: test.tag, created: created, output: filepath.Join(dir, "image.tar"), sbom: filepath.Join(dir, "bill")}
			err := r.write()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
