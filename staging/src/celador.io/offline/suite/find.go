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

// Find returns the files with suites at the given paths, in lexical order and without repetitions.
// The path of a file is returned as it is. Of a directory with its subdirectories, Find returns the
// YAML and JSON files that contain a suite, except for hidden ones. A directory without such a file
// is an error.
//
// So that a run does not silently leave them out, two more kinds of files count as suites: those
// that mention the group of suites but are not valid YAML, and those that cannot be read, such as
// broken links and special files. This includes directories that cannot be read.
//
// Files that Formats detect count as suites, too. Find also looks for these in hidden directories,
// where some tools keep tests.
func (l *Loader) Find(paths ...string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if !isDirectory(path) {
			files = append(files, filepath.Clean(path))
			continue
		}
		found, err := l.findIn(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no suite found: a suite is a YAML file with apiVersion: %s and kind: %s", path, APIVersion, Kind)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(file string) bool {
		absolute, err := filepath.Abs(file)
		repeated := err == nil && seen[absolute]
		seen[absolute] = true
		return repeated
	}), nil
}

// isDirectory reports whether a path is a directory, or a symbolic link to one.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (l *Loader) findIn(directory string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			files = append(files, path)
			return nil
		case path != directory && strings.HasPrefix(entry.Name(), ".") && (!entry.IsDir() || len(l.Formats) == 0 || entry.Name() == ".git"):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !manifest.IsFile(path) || isDirectory(path):
			return nil
		}
		content, err := manifest.ReadFile(path)
		if err != nil {
			files = append(files, path)
			return nil
		}
		relative, err := filepath.Rel(directory, path)
		if err == nil && (hasSuite(path, content) && !inHidden(relative) || l.format(path, content) != nil) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// IsForeign reports whether a file has suites of another tool.
func (l *Loader) IsForeign(file string) bool {
	content, err := manifest.ReadFile(file)
	return err == nil && l.format(file, content) != nil
}

// hasSuite reports whether a document of a file is a suite, of any version. Reports about suites
// have the same group.
func hasSuite(path string, content []byte) bool {
	if !bytes.Contains(content, []byte(Group)) {
		return false
	}
	documents, err := manifest.Parse(path, content)
	return err != nil || slices.ContainsFunc(documents, IsSuite)
}

// IsSuite reports whether a document is a suite in Celador's own format, not one of another tool.
func IsSuite(document *manifest.Document) bool {
	kind := document.GroupVersionKind()
	return kind.Group == Group && kind.Kind != ReportKind
}

// inHidden reports whether an element of a relative path is hidden, that is, begins with a dot.
func inHidden(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}
