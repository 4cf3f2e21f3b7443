// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"errors"
	"fmt"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
)

// How long texts may be, in bytes.
const (
	// maxMessage is for the message of a condition, and maxNote for the note of an event.
	maxMessage = 32 << 10
	maxNote    = 1 << 10
	// maxError is for what listeners are told. Clients get to see it.
	maxError = 2 << 10
	// maxWarnings is for all warnings together, with their fields: a policy has to fit into etcd
	// with its status.
	maxWarnings = 256 << 10
)

// maxWarningCount is how many warnings there may be. That many still say something when they
// are cut.
const maxWarningCount = 1000

// cut returns the text, or the beginning of it and a hint if it is longer than limit.
func cut(text string, limit int) string {
	const hint = " ..."
	if len(text) <= max(limit, len(hint)) {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(hint), 0)], "") + hint
}

// listed returns an error with the texts of all parts, one per line, cut to maxMessage. It is
// nil if there are none. Texts after the limit are not made.
func listed[T any](parts []T, text func(T) string) error {
	if len(parts) == 0 {
		return nil
	}
	var lines []string
	size := 0
	for _, part := range parts {
		line := text(part)
		lines, size = append(lines, line), size+len(line)
		if size > maxMessage {
			break
		}
	}
	return errors.New(cut(strings.Join(lines, "\n"), maxMessage))
}

// limited returns the warnings, which are cut if they are too long. If they are too many the
// last one tells how many are left out. It is not nil.
func limited(warnings []v1.ExpressionWarning) []v1.ExpressionWarning {
	within := append([]v1.ExpressionWarning{}, warnings[:min(len(warnings), maxWarningCount)]...)
	if left := len(warnings) - maxWarningCount; left > 0 {
		last := &within[maxWarningCount-1]
		last.Warning = fmt.Sprintf("%d warnings are left out, of this expression and those after it", left+1)
	}
	size := 0
	for _, warning := range within {
		size += len(warning.FieldRef) + len(warning.Warning)
	}
	if size > maxWarnings {
		for i := range within {
			within[i].Warning = cut(within[i].Warning, maxWarnings/len(within)-len(within[i].FieldRef))
		}
	}
	return within
}
