// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonlibrary

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

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
