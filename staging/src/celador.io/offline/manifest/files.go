// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IsFile reports whether the name of a file is one of YAML or JSON, in upper or lower case.
func IsFile(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

// Files returns the YAML and JSON files in a directory and its subdirectories in lexical order,
// except for hidden ones. The path of a file is returned as it is. A directory without such a file
// is an error.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{filepath.Clean(path)}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file != path && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && IsFile(file):
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no YAML or JSON file found", path)
	}
	return files, err
}

// Each yields the documents of files and directories, those of lists one by one. It holds one file
// at a time. A file that occurs twice is read once. Errors do not end the sequence.
func Each(paths ...string) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		seen := map[string]bool{}
		for _, path := range paths {
			files, err := Files(path)
			if err != nil && !yield(nil, err) {
				return
			}
			for _, file := range files {
				if !seen[file] && !each(file, yield) {
					return
				}
				seen[file] = true
			}
		}
	}
}

// each yields the documents of a file. It returns false if the sequence shall end.
func each(file string, yield func(*Document, error) bool) bool {
	documents, err := Read(file)
	if err != nil && !yield(nil, err) {
		return false
	}
	for item, err := range Items(documents) {
		if !yield(item, err) {
			return false
		}
	}
	return true
}

// Items yields documents, those of lists one by one. Errors do not end the sequence.
func Items(documents []*Document) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		for _, document := range documents {
			items, err := document.Items()
			if err != nil && !yield(nil, err) {
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
