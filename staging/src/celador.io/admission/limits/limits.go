// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// API requests have at most 3 MiB, and etcd takes objects of 1.5 MiB.
const (
	// MaxText is the largest size in bytes of a string or of bytes that an expression makes. It leaves room
	// for several copies of the largest request.
	MaxText = 16 << 20
	// MaxElements is the largest size of a list that an expression makes. The lists of two requests of the
	// largest size fit into one: a request has no more than 1.5 million elements.
	MaxElements = 4 << 20
	// MaxMade is the size in bytes of all strings, lists and maps that one series of evaluations makes. The
	// cost budget of a series pays for 100 million characters where types are known.
	MaxMade = 128 << 20
	// MaxSteps is how many values one series of evaluations compares within lists and maps. The cost budget
	// pays for 10 million where each is compared by an expression of its own.
	MaxSteps = 8 << 20
	// MaxQuantity is the length of the text of a quantity, and MaxExponent the magnitude of its decimal
	// exponent. Quantities are at most 10^19, and not less than 10^-9 unless they are zero.
	MaxQuantity = 1000
	MaxExponent = 1000
	// MaxResultElements is how many values the result of an expression may consist of, and MaxText how
	// much text, when values that occur more than once are counted each time. Results become JSON.
	MaxResultElements = 2 << 20
)

const (
	// free is the size in bytes up to which strings, and smallList the size up to which lists, are not
	// counted one by one: the cost budget bounds their number.
	free      = 256
	smallList = 64
	// bytesPerElement is the memory of an element of a list, bytesPerEntry that of an entry of a map.
	bytesPerElement = 16
	bytesPerEntry   = 128
	// lookAfter is the work in bytes after which a series sees that its request has ended. It takes
	// microseconds.
	lookAfter = 64 << 10
	// textPerStep is how many bytes of text are compared in the time of one step.
	textPerStep = 64
)

// exceededError is the error of a limit. It ends the evaluation of an expression, as the cost limit does.
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

func errMade() error {
	return exceededError(fmt.Sprintf("the strings, lists and maps that the expressions of one policy make exceed the limit of %d bytes; combine fewer or smaller values", MaxMade))
}

func errSteps() error {
	return exceededError(fmt.Sprintf("comparing lists or maps takes more than the limit of %d steps; compare the parts that matter, or filter lists first", MaxSteps))
}

// errCost stands for calls whose cost alone exceeds that of an expression. cel-go charges the cost after the call
// and ends the evaluation with an error of its own, which is what clients see.
func errCost(function string) error {
	return fmt.Errorf("%s costs more than the limit of %d units of an expression", function, celconfig.PerCallLimit)
}
