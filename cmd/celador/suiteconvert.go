// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"celador.io/offline/foreign"
	"celador.io/offline/suite"
)

// suites loads test suites, Celador's own (native) and those of other tools.
var suites = &suite.Loader{Formats: foreign.Formats()}

// convertSuites writes the native form of the suites of other tools at paths to w.
func convertSuites(w io.Writer, paths []string) error {
	files, err := suites.Find(paths...)
	if err != nil {
		return unusable("%w", err)
	}
	var out bytes.Buffer
	directory := ""
	var errs []error
	for _, file := range files {
		documents, err := suites.Convert(file)
		errs = append(errs, err)
		if len(documents) > 0 && out.Len() > 0 && filepath.Dir(file) != directory {
			return unusable("%s and %s have suites of other tools, and a native suite has paths relative to its own directory: convert one directory at a time", directory, filepath.Dir(file))
		}
		for _, document := range documents {
			directory = filepath.Dir(file)
			text, err := document.YAML()
			if err != nil {
				errs = append(errs, err)
			}
			fmt.Fprintf(&out, "---\n%s", text)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{err, exitUnusable}
	}
	if out.Len() == 0 {
		return unusable("no suites of other tools to convert: the files have native suites")
	}
	if _, err := out.WriteTo(w); err != nil {
		return unusable("%w", err)
	}
	return nil
}
