// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import "celador.io/offline/manifest"

// A Format detects the test suites of another tool for policies, such as kaptest, and converts them
// to native suites. Implementations are safe for concurrent use.
type Format interface {
	// Detects reports whether a file seems to have suites of the format.
	Detects(file string, content []byte) bool
	// Convert returns the suites of a file as documents of kind Suite, whose values have positions
	// in the file. Errors join one error for each problem, with its file, line and field. For a
	// suite with a problem, the document is nil.
	Convert(file string) ([]*manifest.Document, error)
}

// A Loader finds and loads suites, native ones and those of Formats.
type Loader struct {
	// Formats are the formats of other tools. If several detect a file, the first one reads it.
	Formats []Format
}

// format returns the Format that detects a file. It returns nil if the file has a native suite, or
// if no Format detects it.
func (l *Loader) format(file string, content []byte) Format {
	if hasSuite(file, content) {
		return nil
	}
	for _, format := range l.Formats {
		if format.Detects(file, content) {
			return format
		}
	}
	return nil
}
