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
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// encode implements json.encode.
func encode(value ref.Val) ref.Val {
	if types.IsUnknownOrError(value) {
		return value
	}
	text, err := jsonOf(value)
	if err != nil {
		return types.NewErr("json.encode: %v", err)
	}
	return types.String(text)
}

func jsonOf(value ref.Val) (string, error) {
	var n nativeValues
	native, err := n.convert(value)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(native); err != nil {
		return "", err
	}
	if text.Len()-len("\n") > MaxSize {
		return "", errSize
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

var errSize = fmt.Errorf("the text has more than %d bytes", MaxSize)

// nativeValues converts values to what package json encodes. It ends with errSize once the text is
// certain to exceed MaxSize, because a small expression can construct a value whose text takes
// exponentially more memory.
type nativeValues struct {
	// size is a lower bound for the text of the values so far, in bytes.
	size int
}

// convert converts a CEL value. It also converts unstructured values, such as map[string]any,
// because views of custom resources hold their content in that form.
func (n *nativeValues) convert(value any) (any, error) {
	for optional, ok := value.(*types.Optional); ok; optional, ok = value.(*types.Optional) {
		if !optional.HasValue() {
			return nil, nil
		}
		value = optional.GetValue()
	}
	if n.size++; n.size > MaxSize {
		return nil, errSize
	}
	switch value := value.(type) {
	case nil, types.Null:
		return nil, nil
	case bool, types.Bool, int64, types.Int, types.Uint:
		return value, nil
	case string:
		return n.text(value)
	case types.String:
		return n.text(string(value))
	case float64:
		return finite(value)
	case types.Double:
		return finite(float64(value))
	case types.Bytes:
		return n.text(base64.StdEncoding.EncodeToString(value))
	case types.Timestamp:
		return n.text(value.Format(time.RFC3339Nano))
	case types.Duration:
		return n.text(value.Duration.String())
	case []any:
		return n.list(len(value), func(i int) any { return value[i] })
	case map[string]any:
		return n.object(value)
	case *types.Err:
		return nil, value
	case ref.Val:
		return n.other(value)
	default:
		return nil, fmt.Errorf("a value of type %T has no JSON text", value)
	}
}

// other converts lists, maps, objects and the values that Kubernetes' libraries add.
func (n *nativeValues) other(value ref.Val) (any, error) {
	// The content of a view of a custom resource is unstructured, with dates and other formats as
	// they are written.
	switch content := value.Value().(type) {
	case []any, map[string]any:
		return n.convert(content)
	}
	switch value := value.(type) {
	case traits.Lister:
		size, ok := value.Size().(types.Int)
		if !ok {
			return nil, fmt.Errorf("the list has no size")
		}
		return n.list(int(size), func(i int) any { return value.Get(types.Int(i)) })
	case traits.Mapper:
		fields := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("keys must be strings, not %s", key.Type().TypeName())
			}
			fields[string(name)] = value.Get(key)
		}
		return n.object(fields)
	}
	if text, ok := value.ConvertToType(types.StringType).(types.String); ok {
		return n.text(string(text))
	}
	if text, ok := value.Value().(fmt.Stringer); ok {
		return n.text(text.String())
	}
	return nil, fmt.Errorf("a value of type %s has no JSON text", value.Type().TypeName())
}

func (n *nativeValues) text(s string) (any, error) {
	n.size += len(s)
	return s, nil
}

func finite(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v has no JSON text", f)
	}
	return f, nil
}

func (n *nativeValues) list(size int, item func(int) any) (any, error) {
	items := []any{}
	for i := range size {
		converted, err := n.convert(item(i))
		if err != nil {
			return nil, err
		}
		items = append(items, converted)
	}
	return items, nil
}

func (n *nativeValues) object(fields map[string]any) (any, error) {
	converted := make(map[string]any, len(fields))
	// Sorted, so that of several errors the same one is returned each time.
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		n.size += len(name)
		var err error
		if converted[name], err = n.convert(fields[name]); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// decode implements json.decode.
func decode(value ref.Val) ref.Val {
	text, ok := value.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	if len(text) > MaxSize {
		return types.NewErr("json.decode: the text has %d bytes, and may have at most %d", len(text), MaxSize)
	}
	var decoded any
	if err := utiljson.Unmarshal([]byte(text), &decoded); err != nil {
		return types.NewErr("json.decode: invalid JSON: %v", err)
	}
	if err := utiljson.ConvertInterfaceNumbers(&decoded, 0); err != nil {
		return types.NewErr("json.decode: %v", err)
	}
	return types.DefaultTypeAdapter.NativeToValue(decoded)
}
