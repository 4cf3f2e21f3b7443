// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonlibrary

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// encode implements json.encode.
func encode(value ref.Val) ref.Val {
	if types.IsUnknownOrError(value) {
		return value
	}
	var e encoder
	if err := e.encode(value); err != nil {
		return types.NewErr("json.encode: %v", err)
	}
	return types.String(e.text)
}

// An encoder appends JSON to a text. It ends with an error before the text exceeds MaxSize, because
// a small expression can construct a value whose text takes exponentially more memory.
type encoder struct{ text []byte }

func (e *encoder) write(text string) error {
	if len(e.text)+len(text) > MaxSize {
		return fmt.Errorf("the text has more than %d bytes", MaxSize)
	}
	e.text = append(e.text, text...)
	return nil
}

// encode encodes a CEL value or, as the values of custom resources have them, an unstructured one.
func (e *encoder) encode(value any) error {
	switch value := value.(type) {
	case nil, types.Null:
		return e.write("null")
	case bool, types.Bool:
		return e.write(fmt.Sprint(value))
	case string:
		return e.string(value)
	case types.String:
		return e.string(string(value))
	case int64:
		return e.write(strconv.FormatInt(value, 10))
	case types.Int:
		return e.write(strconv.FormatInt(int64(value), 10))
	case types.Uint:
		return e.write(strconv.FormatUint(uint64(value), 10))
	case float64:
		return e.float(value)
	case types.Double:
		return e.float(float64(value))
	case types.Bytes:
		return e.string(base64.StdEncoding.EncodeToString(value))
	case types.Timestamp:
		return e.string(value.Format(time.RFC3339Nano))
	case types.Duration:
		return e.string(value.Duration.String())
	case []any:
		return e.list(len(value), func(i int) any { return value[i] })
	case map[string]any:
		return e.object(value)
	case *types.Optional:
		if !value.HasValue() {
			return e.write("null")
		}
		return e.encode(value.GetValue())
	case *types.Err:
		return value
	case ref.Val:
		return e.other(value)
	default:
		return fmt.Errorf("a value of type %T has no JSON text", value)
	}
}

// other encodes lists, maps, objects and the values that Kubernetes' libraries add.
func (e *encoder) other(value ref.Val) error {
	// The values of custom resources have unstructured content, which keeps dates and other formats
	// as they are written.
	switch content := value.Value().(type) {
	case []any:
		return e.encode(content)
	case map[string]any:
		return e.encode(content)
	}
	switch value := value.(type) {
	case traits.Lister:
		size, ok := value.Size().(types.Int)
		if !ok {
			return fmt.Errorf("the list has no size")
		}
		return e.list(int(size), func(i int) any { return value.Get(types.Int(i)) })
	case traits.Mapper:
		fields := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return fmt.Errorf("keys must be strings, not %s", key.Type().TypeName())
			}
			fields[string(name)] = value.Get(key)
		}
		return e.object(fields)
	}
	if text, ok := value.ConvertToType(types.StringType).(types.String); ok {
		return e.string(string(text))
	}
	if text, ok := value.Value().(fmt.Stringer); ok {
		return e.string(text.String())
	}
	return fmt.Errorf("a value of type %s has no JSON text", value.Type().TypeName())
}

func (e *encoder) string(s string) error {
	if len(s) > MaxSize {
		return e.write(s)
	}
	var text strings.Builder
	quoter := json.NewEncoder(&text)
	quoter.SetEscapeHTML(false)
	if err := quoter.Encode(s); err != nil {
		return err
	}
	return e.write(strings.TrimSuffix(text.String(), "\n"))
}

func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v has no JSON text", f)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return e.write(string(text))
}

func (e *encoder) list(size int, item func(int) any) error {
	if err := e.write("["); err != nil {
		return err
	}
	for i := range size {
		if i > 0 {
			if err := e.write(","); err != nil {
				return err
			}
		}
		if err := e.encode(item(i)); err != nil {
			return err
		}
	}
	return e.write("]")
}

func (e *encoder) object(fields map[string]any) error {
	if err := e.write("{"); err != nil {
		return err
	}
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			if err := e.write(","); err != nil {
				return err
			}
		}
		if err := e.string(name); err != nil {
			return err
		}
		if err := e.write(":"); err != nil {
			return err
		}
		if err := e.encode(fields[name]); err != nil {
			return err
		}
	}
	return e.write("}")
}
