// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// checkQuantity returns an error if the text that quantity() or isQuantity() parses is too long or
// has too large an exponent. Arithmetic on quantities expands their exponents to digits.
func checkQuantity(_ MeterResolver, args []ref.Val) error {
	text, ok := args[0].(types.String)
	if !ok {
		return nil
	}
	// Only a number with an exponent is checked for its exponent. Other suffixes stand for small
	// exponents, and a text that does not begin with a number is not a quantity.
	suffix := strings.TrimLeft(string(text), "+-.0123456789")
	number := string(text[:len(text)-len(suffix)])
	if len(number) > MaxQuantity {
		return exceeded("characters of a quantity", len(number), MaxQuantity, "quantities have at most 19 digits")
	}
	if suffix == "" || suffix[0] != 'e' && suffix[0] != 'E' || !strings.ContainsAny(number, "0123456789") {
		return nil
	}
	exponent, err := strconv.Atoi(suffix[1:])
	if err != nil {
		return nil // E alone is 10^18, and an exponent beyond 64 bits is not a quantity
	}
	if magnitude := max(exponent, -exponent); magnitude > MaxExponent {
		return exceeded("exponent of a quantity", magnitude, MaxExponent, "quantities are at most 10^19 and at least 10^-9")
	}
	return nil
}
