// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// separator separates the name of a spec from the reason in a line of the list of exceptions.
const separator = " :: "

// An Exception is a spec that is not run, because it cannot pass in the cluster.
type Exception struct {
	// Spec is the full name of the spec.
	Spec string
	// Reason says what the spec needs that the cluster does not have.
	Reason string
}

// ReadExceptions reads exceptions, one per line: the full name of the spec, " :: " and the reason.
// It ignores empty lines and lines that begin with #. It returns an error with the first line that
// is malformed or repeats a spec.
func ReadExceptions(list io.Reader) ([]Exception, error) {
	var exceptions []Exception
	seen := map[string]bool{}
	scanner := bufio.NewScanner(list)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, separator)
		name, reason = strings.TrimSpace(name), strings.TrimSpace(reason)
		switch {
		case !found || name == "" || reason == "":
			return nil, fmt.Errorf("line %d: want a spec's name,%qand a reason, got %q", number, separator, line)
		case seen[name]:
			return nil, fmt.Errorf("line %d: spec %q is already listed: delete one of the two lines", number, name)
		}
		seen[name] = true
		exceptions = append(exceptions, Exception{Spec: name, Reason: reason})
	}
	return exceptions, scanner.Err()
}
