// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkVariableName(path *field.Path, name string) field.ErrorList {
	switch {
	case strings.TrimSpace(name) == "":
		return missing(path, "name is not specified")
	case !identifier.MatchString(name) || reserved.Has(name):
		return invalid(path, name, "must be a valid CEL identifier")
	}
	return nil
}

var (
	identifier = regexp.MustCompile("^[A-Za-z_][A-Za-z_0-9]*$")

	// reserved are the words that the CEL language definition reserves under "Syntax".
	reserved = sets.New(
		"as", "break", "const", "continue", "else", "false", "for",
		"function", "if", "import", "in", "let", "loop", "namespace",
		"null", "package", "return", "true", "var", "void", "while",
	)
)
