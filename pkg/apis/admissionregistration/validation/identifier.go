// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/sets"
)

var (
	identifier = regexp.MustCompile("^[A-Za-z_][A-Za-z_0-9]*$")

	// reserved are the words that the CEL language definition, under "Syntax",
	// keeps for itself.
	reserved = sets.New(
		"as", "break", "const", "continue", "else", "false", "for",
		"function", "if", "import", "in", "let", "loop", "namespace",
		"null", "package", "return", "true", "var", "void", "while",
	)
)

// isIdentifier says whether an expression can refer to a variable by this name.
func isIdentifier(name string) bool {
	return identifier.MatchString(name) && !reserved.Has(name)
}
