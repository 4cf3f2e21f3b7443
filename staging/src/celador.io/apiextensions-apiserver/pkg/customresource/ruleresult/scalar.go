// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// scalar converts a value that is neither a list nor a map to a value of a schema.
func scalar(v ref.Val, to *structuralschema.Structural) (any, *mismatch) {
	var value any
	ok := false
	switch {
	case to.XIntOrString:
		if value, ok = integer(v); !ok {
			value, ok = text(v)
		}
	case to.Type == "string":
		return formatted(v, to)
	case to.Type == "integer":
		value, ok = integer(v)
	case to.Type == "number":
		value, ok = number(v)
	case to.Type == "boolean":
		value, ok = boolean(v)
	case IsAny(to):
		value, ok = jsonScalar(v)
	}
	if ok {
		return value, nil
	}
	return nil, unfit(v, to)
}

func unfit(v ref.Val, to *structuralschema.Structural) *mismatch {
	switch v := v.(type) {
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return &mismatch{got: describeDouble(v), want: Describe(to), advice: "JSON has no such number"}
		}
		if to.Type == "integer" || to.Type == "number" {
			return &mismatch{got: describeDouble(v), want: Describe(to), advice: "write int(...) to cut off the fraction"}
		}
	case types.Uint:
		return &mismatch{got: fmt.Sprintf("the uint %d", uint64(v)), want: Describe(to)}
	case types.String:
		if !utf8.ValidString(string(v)) {
			return &mismatch{reason: "the result is not valid UTF-8"}
		}
	}
	t, ok := v.Type().(*types.Type)
	if !ok {
		return &mismatch{got: v.Type().TypeName(), want: Describe(to)}
	}
	return &mismatch{got: describeType(t), want: Describe(to), advice: advice(t, to)}
}

func describeDouble(v types.Double) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }

func text(v ref.Val) (any, bool) {
	s, ok := v.(types.String)
	return string(s), ok && utf8.ValidString(string(s))
}

func boolean(v ref.Val) (any, bool) {
	b, ok := v.(types.Bool)
	return bool(b), ok
}

// integer converts numbers without a fraction that an int64 can hold.
func integer(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case types.Int:
		return int64(v), true
	case types.Uint:
		return int64(v), uint64(v) <= math.MaxInt64
	case types.Double:
		// The bounds are powers of two, so that a float64 represents them exactly.
		return int64(v), float64(v) == math.Trunc(float64(v)) && v >= -1<<63 && v < 1<<63
	default:
		return nil, false
	}
}

// number converts a finite number. Like JSON decoders, it returns an int64 for a whole number, if a
// float64 can hold all whole numbers of that magnitude.
func number(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case types.Int:
		return int64(v), true
	case types.Uint:
		if uint64(v) > math.MaxInt64 {
			return float64(v), true
		}
		return int64(v), true
	case types.Double:
		const exact = 1 << 53
		f := float64(v)
		if f == math.Trunc(f) && math.Abs(f) <= exact {
			return int64(f), true
		}
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return nil, false
	}
}

// jsonScalar converts a value to any JSON value.
func jsonScalar(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case types.String:
		return text(v)
	case types.Bool:
		return bool(v), true
	case types.Int, types.Uint, types.Double:
		return number(v)
	case types.Timestamp:
		return dateTime(v.Time), true
	case types.Duration:
		return v.Duration.String(), true
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), true
	default:
		return nil, false
	}
}

// formatted converts a value to a string of the schema's format.
func formatted(v ref.Val, to *structuralschema.Structural) (any, *mismatch) {
	format := formatOf(to)
	switch v := v.(type) {
	case types.String:
		s, ok := text(v)
		if !ok {
			return nil, unfit(v, to)
		}
		if err := formats[format].check(string(v)); err != nil {
			return nil, &mismatch{reason: fmt.Sprintf("the result is not %s: %v", Describe(to), err)}
		}
		return s, nil
	case types.Timestamp:
		switch format {
		case formatDateTime:
			return dateTime(v.Time), nil
		case formatDate:
			return v.Format(strfmt.RFC3339FullDate), nil
		}
	case types.Duration:
		if format == formatDuration {
			return v.Duration.String(), nil
		}
	case types.Bytes:
		if format == formatBytes {
			return base64.StdEncoding.EncodeToString(v), nil
		}
	}
	return nil, unfit(v, to)
}

// dateTime returns the text of a time in the time's zone, or in UTC if the offset of the zone has
// seconds, which RFC 3339 cannot express.
func dateTime(t time.Time) string {
	const minute = 60
	if _, offset := t.Zone(); offset%minute != 0 {
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}
