// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"
)

// The limits derive from the size of requests: an API request has at most 3 MiB, and etcd accepts
// objects of 1.5 MiB.
const (
	// MaxText is the maximum size in bytes of a string or bytes value that an expression
	// constructs. It leaves room for several copies of the largest request.
	MaxText = 16 << 20
	// MaxElements is the maximum size of a list that an expression constructs. It leaves room for
	// the lists of two requests: a request has at most 1.5 million elements.
	MaxElements = 4 << 20
	// MaxAllocated is the maximum size in bytes of all strings, lists and maps that one series of
	// evaluations constructs. It is close to what CEL costs allow where types are known: there, the
	// budget of a series pays for 100 million characters.
	MaxAllocated = 128 << 20
	// MaxSteps is the maximum number of values within lists and maps that one series of evaluations
	// compares. It is close to what CEL costs allow: the budget pays for 10 million values if each
	// is compared by an expression of its own.
	MaxSteps = 8 << 20
	// MaxQuantity is the maximum length of the text of a quantity, and MaxExponent the maximum
	// magnitude of its decimal exponent, which arithmetic expands to digits. Valid quantities are
	// at most 10^19 and, unless they are zero, at least 10^-9.
	MaxQuantity = 1000
	MaxExponent = 1000
	// MaxResultElements is the maximum number of values in the result of an expression. Results are
	// converted to JSON, so a value that occurs several times in the result counts each time.
	// MaxText bounds the text in a result.
	MaxResultElements = 2 << 20
)

const (
	// smallText is the size in bytes of strings, and smallList the number of elements of lists, up
	// to which results are not counted: the cost budget bounds their number.
	smallText = 256
	smallList = 64
	// bytesPerElement is the approximate memory of a list element, and bytesPerEntry of a map
	// entry.
	bytesPerElement = 16
	bytesPerEntry   = 128
	// checkDoneAfter is the work, in bytes, after which a meter checks whether the request has
	// ended. The work takes microseconds.
	checkDoneAfter = 64 << 10
	// textPerStep is the number of bytes of text that are compared in one step.
	textPerStep = 64
)

// exceededError reports an exceeded limit. Like the cost limit, it ends the evaluation of the
// expression.
type exceededError string

// Error implements error.
func (e exceededError) Error() string { return string(e) }

func exceeded(what string, n, limit int, advice string) error {
	return exceededError(fmt.Sprintf("%s: %d exceeds the limit of %d; %s", what, n, limit, advice))
}

func errText(n int) error {
	return exceeded("bytes of text in one value", n, MaxText, "select or shorten the parts before combining them")
}

func errElements(n int) error {
	return exceeded("elements of one list", n, MaxElements, "filter the lists before combining them")
}

func errAllocated() error {
	return exceededError(fmt.Sprintf("the strings, lists and maps that the expressions of one policy make exceed the limit of %d bytes; combine fewer or smaller values", MaxAllocated))
}

func errSteps() error {
	return exceededError(fmt.Sprintf("comparing lists or maps takes more than the limit of %d steps; compare the parts that matter, or filter lists first", MaxSteps))
}

// errCost returns the error for a call of a CEL function whose cost alone exceeds the cost limit of
// an expression. The error takes the place of the call's result, so the function does no work.
// cel-go then charges the call, and it is cel-go's cost error that the client gets.
func errCost(function string, limit uint64) error {
	return fmt.Errorf("%s costs more than the limit of %d units of an expression", function, limit)
}
