// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// files returns the files to which a name in a suite refers. A relative name is relative to
// directory, that of the suite. If pattern is set and no file has the name, the name may be a
// pattern as for path.Match, in which ** also stands for any number of directories that are not
// hidden.
func files(directory, name string, pattern bool) ([]string, error) {
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(directory, file)
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory: write %s to read its manifests", file, filepath.Join(name, "*.yaml"))
	case err == nil:
		return []string{file}, nil
	case !os.IsNotExist(err):
		return nil, err
	case !strings.ContainsAny(name, "*?["):
		return nil, fmt.Errorf("no file %s: paths are relative to the directory of the suite", file)
	case !pattern:
		return nil, fmt.Errorf("no file %s: only manifests may be patterns of files", file)
	}
	base, rest := splitPattern(filepath.ToSlash(name))
	if !filepath.IsAbs(base) {
		base = filepath.Join(directory, base)
	}
	matches, err := glob(os.DirFS(base), rest)
	if err != nil {
		return nil, fmt.Errorf("%s is not a pattern of files: %w", name, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("no file matches %s: paths are relative to the directory of the suite", file)
	}
	for i := range matches {
		matches[i] = filepath.Join(base, filepath.FromSlash(matches[i]))
	}
	return matches, nil
}

// splitPattern splits a pattern into the directories before the first element with a metacharacter,
// and the rest.
func splitPattern(pattern string) (base, rest string) {
	for {
		first, after, found := strings.Cut(pattern, "/")
		if !found || strings.ContainsAny(first, `*?[\`) {
			return base, pattern
		}
		base, pattern = base+first+"/", after
	}
}

// glob returns the files, not the directories, that match a pattern, in lexical order.
func glob(files fs.FS, pattern string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	segments := strings.Split(path.Clean(pattern), "/")
	deep := slices.Contains(segments, "**")
	var matches []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		depth := strings.Count(name, "/") + 1
		switch {
		case err != nil && name == ".":
			return fs.SkipAll // without the directory there is no match
		case err != nil:
			return err
		case !entry.IsDir():
			if match(segments, strings.Split(name, "/")) {
				matches = append(matches, name)
			}
		case name == ".":
		case deep && strings.HasPrefix(entry.Name(), "."), !deep && depth >= len(segments):
			return fs.SkipDir
		}
		return nil
	})
	return matches, err
}

// match reports whether the elements of a path match those of a pattern.
func match(pattern, name []string) bool {
	for ; len(pattern) > 0; pattern, name = pattern[1:], name[1:] {
		if pattern[0] == "**" {
			for skipped := range len(name) + 1 {
				if match(pattern[1:], name[skipped:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], name[0]); !ok {
			return false
		}
	}
	return len(name) == 0
}
