// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Only strings are keys of structs and maps. An error or unknown in place of a key is returned as
// it is.

func unsupportedKey(key ref.Val) ref.Val {
	return types.ValOrErr(key, "unsupported map key type: %T", key)
}

func noSuchKey(key ref.Val) ref.Val {
	return types.ValOrErr(key, "no such key: %v", key)
}
