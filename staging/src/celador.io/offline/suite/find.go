// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"celador.io/offline/manifest"
)

// Find returns the files of suites at the given paths, in lexical order without repetitions. A path of a file is
// returned as it is. In a directory and its subdirectories, Find returns the YAML and JSON files with a suite, except for hidden ones.
// Files that mention the group of suites and are not valid YAML count as suites, so that a run does not leave them out.
// A directory without such a file is an error.
func Find(paths ...string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(path))
			continue
		}
		found, err := findIn(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no suite found: a suite is a YAML file with apiVersion: %s and kind: %s", path, APIVersion, Kind)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func findIn(directory string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != directory && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir(), !isManifest(path):
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil && hasSuite(path, content) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// hasSuite reports whether a document of a file is a suite, of any version. Reports about suites have the same group.
func hasSuite(path string, content []byte) bool {
	if !bytes.Contains(content, []byte(Group)) {
		return false
	}
	documents, err := manifest.Parse(path, content)
	return err != nil || slices.ContainsFunc(documents, isSuite)
}

func isSuite(document *manifest.Document) bool {
	kind := document.GroupVersionKind()
	return kind.Group == Group && kind.Kind != ReportKind
}

func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}
