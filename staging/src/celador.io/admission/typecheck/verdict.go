// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// A VerdictStore receives the verdicts on policies of one kind. A verdict is an error or nil, and
// tells the engine whether one generation of an Enforced policy may decide. The stores of packages
// validating and mutating implement VerdictStore.
//
// Implementations do not block and are safe for concurrent use. Calls about one policy must be in
// the order of the checks.
type VerdictStore interface {
	// SetVerdict sets the verdict on a generation of the policy with the given name and UID. With
	// a nil error, the policy decides as written. With any other, the requests that the policy
	// matches fail with that error, subject to the policy's failurePolicy. The verdict also holds
	// for later generations until they have one of their own, and for another spec of the same
	// generation until the next call. It may arrive before the policy.
	SetVerdict(name string, uid types.UID, generation int64, err error)
	// ForgetVerdict drops a verdict whose policy has not arrived. It is called when the policy is
	// deleted, after which no verdict on it follows.
	ForgetVerdict(name string)
}

// Limits on texts, in bytes.
const (
	// maxLines limits the text of the errors that Lines and Result.Err return.
	maxLines = 32 << 10
	// maxVerdict limits the text of a verdict, which clients see in responses.
	maxVerdict = 2 << 10
)

// Verdict returns the verdict on an Enforced policy. compileErrors are errors that do not depend on
// types, and typeErrors those that do. The verdict is nil if both are, and otherwise an error with
// both texts, shortened.
func Verdict(compileErrors, typeErrors error) error {
	err := errors.Join(compileErrors, typeErrors)
	if err == nil {
		return nil
	}
	return errors.New(Truncate(err.Error(), maxVerdict))
}

// Err returns the type errors that make an Enforced policy unavailable, shortened, or nil if there
// are none.
func (r *Result) Err() error {
	return joinLines(r.Enforceable().Findings, func(f Finding) string {
		return fmt.Sprintf("%s does not fit %s: %s", f.Field, f.On(), f.Message)
	})
}

// Lines returns an error with each of errs on a line of its own, shortened, or nil if there are
// none.
func Lines(errs []error) error { return joinLines(errs, error.Error) }

// joinLines returns an error with the text of each item on a line of its own, truncated to
// maxLines, or nil if there are no items. It does not format items beyond that limit.
func joinLines[T any](items []T, text func(T) string) error {
	if len(items) == 0 {
		return nil
	}
	var lines []string
	size := 0
	for _, item := range items {
		line := text(item)
		lines, size = append(lines, line), size+len(line)
		if size > maxLines {
			break
		}
	}
	return errors.New(Truncate(strings.Join(lines, "\n"), maxLines))
}

// Truncate returns the text, shortened to limit bytes with " ..." at its end if it is longer.
func Truncate(text string, limit int) string {
	const ellipsis = " ..."
	if len(text) <= max(limit, len(ellipsis)) {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(ellipsis), 0)], "") + ellipsis
}
