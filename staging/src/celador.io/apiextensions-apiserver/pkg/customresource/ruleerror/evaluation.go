// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror

import (
	"fmt"
	"strings"
)

// Evaluation returns the error of an evaluation, and what to write in the rule instead if the
// mistake is a common one. It wraps err.
func Evaluation(err error) error {
	for _, common := range []struct{ prefix, advice string }{
		{"no such key", "it is unset in this object; ask with has(...) first, or read it with .? and orValue(...)"},
		{"index out of bounds", "the list has fewer items in this object; ask for size(...) first, or read the item with [?...] and orValue(...)"},
		{"type conversion error from 'string'", "the text is not one of that type in this object; ask with matches(...) first"},
	} {
		if strings.HasPrefix(err.Error(), common.prefix) {
			return fmt.Errorf("%w (%s)", err, common.advice)
		}
	}
	return err
}
