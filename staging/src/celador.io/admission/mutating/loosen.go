// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"reflect"
	"time"

	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/values"
)

// loosen puts maps and lists in the place of what is of a Go type in the fields of a
// constructed object: expressions may take parts over from the object of the request.
func loosen(fields map[string]any) error {
	for name, field := range fields {
		loose, err := loosened(field)
		if err != nil {
			return fmt.Errorf("invalid value of field %q: %w", name, err)
		}
		fields[name] = loose
	}
	return nil
}

func loosened(v any) (any, error) {
	switch v := v.(type) {
	case []ref.Val, map[ref.Val]ref.Val, []byte, time.Time:
		return v, nil // values of CEL
	case map[string]any:
		return v, loosen(v)
	case []any:
		for i := range v {
			loose, err := loosened(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = loose
		}
		return v, nil
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return values.Unstructured(r)
	default:
		return v, nil
	}
}
