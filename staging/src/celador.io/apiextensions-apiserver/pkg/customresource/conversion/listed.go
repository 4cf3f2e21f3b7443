// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"strings"
)

// maxWarned bounds the fields or rules that a warning names.
const maxWarned = 10

// listed joins the first texts for a warning, and says how many more of a kind there are, such as
// fields.
func listed(texts []string, separator, kind string) string {
	more := ""
	if len(texts) > maxWarned {
		more = fmt.Sprintf(" and %d more %s", len(texts)-maxWarned, kind)
		texts = texts[:maxWarned]
	}
	return strings.Join(texts, separator) + more
}
