// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// The keys of structs and maps are strings. A lookup with a key of another type returns an error,
// and a lookup with a key that is itself an error or an unknown returns that key.

func unsupportedKey(key ref.Val) ref.Val {
	return types.ValOrErr(key, "unsupported map key type: %T", key)
}

func noSuchKey(key ref.Val) ref.Val {
	return types.ValOrErr(key, "no such key: %v", key)
}
