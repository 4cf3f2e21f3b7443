// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"time"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// Formats of strings whose values are not strings in expressions.
const (
	formatBytes    = "byte"
	formatDate     = "date"
	formatDateTime = "date-time"
	formatDuration = "duration"
)

// formats holds the formats of strings whose values expressions do not read as strings, but as
// another CEL type. The entry "" is for strings with any other format, or with none.
var formats = map[string]struct {
	// read is the CEL type of the values that expressions read.
	read *types.Type
	// function is the CEL function that makes such a value of a string.
	function string
	// check returns an error for a text that a rule has returned and that expressions could not
	// read as a value of the format.
	check func(text string) error
}{
	"":             {types.StringType, "string", func(string) error { return nil }},
	formatBytes:    {types.BytesType, "bytes", func(text string) error { return new(strfmt.Base64).UnmarshalText([]byte(text)) }},
	formatDate:     {types.TimestampType, "timestamp", parses(func(text string) (time.Time, error) { return time.Parse(strfmt.RFC3339FullDate, text) })},
	formatDateTime: {types.TimestampType, "timestamp", parses(strfmt.ParseDateTime)},
	formatDuration: {types.DurationType, "duration", parses(strfmt.ParseDuration)},
}

func parses[T any](parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// formatOf returns the format of a string schema if expressions read its values as another type
// than string. Otherwise it returns "".
func formatOf(s *structuralschema.Structural) string {
	if s.ValueValidation != nil && formats[s.ValueValidation.Format].read != nil {
		return s.ValueValidation.Format
	}
	return ""
}
