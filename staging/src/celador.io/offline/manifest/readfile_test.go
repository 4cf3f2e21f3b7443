// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"celador.io/offline/manifest"
)

func TestEncodings(t *testing.T) {
	for name, text := range map[string]string{
		"UTF-8": "a: \u00fc\n---\nb: 1\n", "UTF-8 with a mark": "\ufeffa: \u00fc\n---\nb: 1\n",
		"UTF-16, little endian":                 "\xff\xfea\x00:\x00 \x00\xfc\x00\n\x00-\x00-\x00-\x00\n\x00b\x00:\x00 \x001\x00\n\x00",
		"UTF-16, little endian, without a mark": "a\x00:\x00 \x00\xfc\x00\n\x00-\x00-\x00-\x00\n\x00b\x00:\x00 \x001\x00\n\x00",
		"UTF-16, big endian, without a mark":    "\x00a\x00:\x00 \x00\xfc\x00\n\x00-\x00-\x00-\x00\n\x00b\x00:\x00 \x001\x00\n",
		"UTF-16, big endian":                    "\xfe\xff\x00a\x00:\x00 \x00\xfc\x00\n\x00-\x00-\x00-\x00\n\x00b\x00:\x00 \x001\x00\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			documents, err := manifest.Read(file)
			if err != nil || len(documents) != 2 || string(documents[0].Raw()) != "{\"a\":\"\u00fc\"}" || documents[1].Position("").Line != 3 {
				t.Errorf("documents %v, error %v", documents, err)
			}
		})
	}
}

// TestOtherEncodings reads files in encodings that are not supported. A file that is read as
// nothing would be left out.
func TestOtherEncodings(t *testing.T) {
	for name, text := range map[string]string{
		"UTF-32, little endian": "\xff\xfe\x00\x00a\x00\x00\x00:\x00\x00\x00 \x00\x00\x001\x00\x00\x00",
		"UTF-32, big endian":    "\x00\x00\xfe\xff\x00\x00\x00a\x00\x00\x00:\x00\x00\x00 \x00\x00\x001",
		"null bytes":            "a: 1\x00\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if documents, err := manifest.Read(file); err == nil || err.Error() != file+" is not text in UTF-8 or UTF-16" {
				t.Errorf("documents %v, error %v", documents, err)
			}
		})
	}
}

// TestSpecialFiles reads files that may have no end.
func TestSpecialFiles(t *testing.T) {
	directory := t.TempDir()
	pipe := filepath.Join(directory, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(directory, "zero.yaml")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, link, "/dev/zero", directory} {
		if _, err := manifest.Read(file); err == nil || !strings.HasPrefix(err.Error(), file+" is a ") || !strings.HasSuffix(err.Error(), ", want a file") {
			t.Errorf("%s: error %v", file, err)
		}
	}
	if err := manifestsOf(directory); err == nil {
		t.Error("a directory with a pipe has no error")
	}
}

// manifestsOf returns the first error of the documents in a directory.
func manifestsOf(directory string) error {
	for _, err := range manifest.Each(directory) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestPassedPipe reads a pipe that a shell would pass for <(command).
func TestPassedPipe(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := writer.WriteString("a: 1\n"); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	documents, err := manifest.Read(fmt.Sprintf("/dev/fd/%d", reader.Fd()))
	if err != nil || len(documents) != 1 {
		t.Errorf("documents %v, error %v", documents, err)
	}
}
