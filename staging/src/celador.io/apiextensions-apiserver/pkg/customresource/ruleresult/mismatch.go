// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A mismatch is the error for a value that does not fit its schema.
type mismatch struct {
	// reversed is the path from the result to the value, in reverse order: a segment is added when
	// the conversion of each surrounding value returns.
	reversed rulepath.Path
	// got and want describe the type of the value and that of the schema. advice says what to write
	// instead.
	got, want, advice string
	// reason, if set, replaces the comparison of got and want in the error.
	reason string
}

// Error implements error.
func (m *mismatch) Error() string { return m.describe("the rule returns") }

// describe returns the text of the error. subject is what comes before the type of the value, such
// as 'the rule returns'.
func (m *mismatch) describe(subject string) string {
	at := abbreviate(m.reversed)
	switch {
	case m.reason != "" && at == "":
		return m.reason
	case m.reason != "":
		return fmt.Sprintf("%s: %s", at, m.reason)
	case at == "":
		return fmt.Sprintf("%s %s, but the field is %s%s", subject, m.got, m.want, m.suffix())
	default:
		return fmt.Sprintf("%s %s for %s, which is %s%s", subject, m.got, at, m.want, m.suffix())
	}
}

// abbreviate returns the text of a reversed path. It leaves out the last segments of a long one.
func abbreviate(reversed rulepath.Path) string {
	const described, longest = 20, 500
	path := slices.Clone(reversed)
	slices.Reverse(path)
	more := ""
	if len(path) > described {
		path, more = path[:described], "..."
	}
	text := path.String()
	if len(text) > longest {
		text, more = strings.ToValidUTF8(text[:longest], ""), "..."
	}
	return text + more
}

func (m *mismatch) suffix() string {
	if m.advice == "" {
		return ""
	}
	return ": " + m.advice
}

// below adds to the path of the mismatch the item or field in which the value is. The conversion of
// a list or object calls it with what the conversion of the item or field has returned: m is nil,
// and so is the result, if the value has no mismatch.
func (m *mismatch) below(step rulepath.Segment) *mismatch {
	if m != nil {
		m.reversed = append(m.reversed, step)
	}
	return m
}

// Describe names the type of a schema's values, with an article, such as 'a list of strings'.
func Describe(s *structuralschema.Structural) string {
	switch {
	case s.XIntOrString:
		return "an integer or a string"
	case s.Type == "string" && formatOf(s) != "":
		return fmt.Sprintf("a string with the format %s", formatOf(s))
	case s.Type == "integer":
		return "an integer"
	case s.Type == "array" && s.Items != nil:
		return "a list of " + describePlural(s.Items)
	case s.Type == "object" && ruleschema.Values(s) != nil:
		return "a map of " + describePlural(ruleschema.Values(s))
	case s.Type == "object":
		return "an object"
	case s.Type == "":
		return "any JSON value"
	default:
		return "a " + s.Type
	}
}

func describePlural(s *structuralschema.Structural) string {
	switch {
	case s.XIntOrString:
		return "integers or strings"
	case s.Type == "string" && formatOf(s) != "":
		return fmt.Sprintf("strings with the format %s", formatOf(s))
	case s.Type == "array" && s.Items != nil:
		return "lists of " + describePlural(s.Items)
	case s.Type == "object" && ruleschema.Values(s) != nil:
		return "maps of " + describePlural(ruleschema.Values(s))
	case s.Type == "":
		return "any JSON values"
	default:
		return s.Type + "s"
	}
}

// PreservesUnknown reports whether objects of the schema may have fields that it does not declare.
func PreservesUnknown(s *structuralschema.Structural) bool {
	return s.XPreserveUnknownFields || s.AdditionalProperties != nil && s.AdditionalProperties.Structural == nil && s.AdditionalProperties.Bool
}
