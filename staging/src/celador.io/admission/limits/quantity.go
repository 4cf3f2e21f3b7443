// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// checkQuantity checks the text of a quantity. Arithmetic on quantities expands their exponents
// to digits.
func checkQuantity(_ Source, args []ref.Val) error {
	text, ok := args[0].(types.String)
	if !ok {
		return nil
	}
	if len(text) > MaxQuantity {
		return exceeded("characters of a quantity", len(text), MaxQuantity, "quantities have at most 19 digits")
	}
	at := strings.LastIndexAny(string(text), "eE")
	if at < 0 {
		return nil
	}
	exponent, err := strconv.Atoi(string(text[at+1:]))
	if err != nil {
		if n, ok := err.(*strconv.NumError); !ok || n.Err != strconv.ErrRange {
			return nil // E alone stands for 10^18
		}
		exponent = MaxExponent + 1
	}
	if magnitude := max(exponent, -exponent); magnitude > MaxExponent {
		return exceeded("exponent of a quantity", magnitude, MaxExponent, "quantities are at most 10^19 and at least 10^-9")
	}
	return nil
}
