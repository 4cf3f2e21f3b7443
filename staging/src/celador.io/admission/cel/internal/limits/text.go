// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/values"
)

// checkJoin returns an error if the result of list.join() or list.join(separator) exceeds MaxText.
// It does not count the texts in Go data, such as a list of the request, because the size of the
// request bounds them.
func checkJoin(_ MeterResolver, args []ref.Val) error {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return nil
	}
	n, length := sizeOf(list), 0
	if len(args) > 1 {
		separator, _ := args[1].(types.String)
		length = max(n-1, 0) * len(separator)
	}
	if values.IsGoData(list) || length > MaxText {
		return fitText(length)
	}
	for i := range n {
		if text, ok := list.Get(types.Int(i)).(types.String); ok {
			length += len(text)
		}
		if length > MaxText {
			return errText(length)
		}
	}
	return nil
}

// checkReplace returns an error if text.replace(old, new) or text.replace(old, new, limit) would
// return more than MaxText bytes.
func checkReplace(_ MeterResolver, args []ref.Val) error {
	text, isText := args[0].(types.String)
	old, isOld := args[1].(types.String)
	replacement, isReplacement := args[2].(types.String)
	if !isText || !isOld || !isReplacement || len(replacement) <= len(old) || (len(text)+1)*len(replacement)+len(text) <= MaxText {
		return nil
	}
	times := limited(strings.Count(string(text), string(old)), args[3:])
	return fitText(len(text) + times*(len(replacement)-len(old)))
}

// checkRegexReplace checks regex.replace(text, pattern, replacement) and regex.replace(text,
// pattern, replacement, limit) of cel-go, by an upper bound of the result's size: the pattern
// matches at most once at each position of the text, and each two bytes of the replacement may
// stand for a group, which is at most as long as the match.
func checkRegexReplace(from MeterResolver, args []ref.Val) error {
	if err := checkCost("find")(from, args); err != nil {
		return err
	}
	text, isText := args[0].(types.String)
	replacement, isReplacement := args[2].(types.String)
	if !isText || !isReplacement {
		return nil
	}
	times := limited(len(text)+1, args[3:])
	groups := strings.Count(string(replacement), `\`)
	return fitText(len(text)*(groups+1) + times*len(replacement))
}

// checkSplit returns an error if text.split(separator) or text.split(separator, limit) would return
// more than MaxElements elements.
func checkSplit(_ MeterResolver, args []ref.Val) error {
	text, isText := args[0].(types.String)
	separator, isSeparator := args[1].(types.String)
	if !isText || !isSeparator || len(text) < MaxElements {
		return nil
	}
	return fitElements(limited(strings.Count(string(text), string(separator))+1, args[2:]))
}

// limited returns n, or the limit that a call such as text.split(separator, limit) has, if that is
// lower. limit holds the argument, and is empty for a call without it. A negative limit is none.
func limited(n int, limit []ref.Val) int {
	if len(limit) > 0 {
		if limit, ok := limit[0].(types.Int); ok && limit >= 0 {
			return min(n, int(limit))
		}
	}
	return n
}

// checkFormat returns an error if text.format(list) may return more than MaxText bytes. The
// formatted text of a list or map is only a few bytes longer than its strings.
func checkFormat(_ MeterResolver, args []ref.Val) error {
	text, ok := args[0].(types.String)
	if !ok {
		return nil
	}
	length := len(text) + precisionsIn(string(text))
	if length > MaxText {
		return errText(length)
	}
	const perElement = 32
	e := extent{goContent: true, maxElements: MaxText / perElement, maxText: MaxText}
	e.add(args[1])
	return fitText(length + e.text + e.elements*perElement)
}

// precisionsIn returns the sum of the precisions in a format string, such as 3 for %.3f.
func precisionsIn(format string) int {
	sum := 0
	for {
		_, after, found := strings.Cut(format, "%.")
		if !found || sum > MaxText {
			return sum
		}
		precision := 0
		for after != "" && after[0] >= '0' && after[0] <= '9' && precision <= MaxText {
			precision, after = precision*10+int(after[0]-'0'), after[1:]
		}
		sum, format = sum+precision, after
	}
}

func fitText(bytes int) error {
	if bytes > MaxText {
		return errText(bytes)
	}
	return nil
}

func fitElements(n int) error {
	if n > MaxElements {
		return errElements(n)
	}
	return nil
}
