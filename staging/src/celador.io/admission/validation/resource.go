// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkResources checks a rule's resources: "pods", "pods/status", and with
// wildcards "*", "pods/*", "*/scale" and "*/*". No pattern may stand after one
// that includes it, and "*/*" includes everything.
func checkResources(path *field.Path, patterns []string) field.ErrorList {
	if len(patterns) == 0 {
		return missing(path, "")
	}
	var errs field.ErrorList
	earlier := sets.New[string]()
	lastWithoutSubresource := ""
	for i, pattern := range patterns {
		resource, subresource, hasSubresource := strings.Cut(pattern, "/")
		switch {
		case pattern == "":
			errs = append(errs, field.Required(path.Index(i), ""))
		case !hasSubresource:
			lastWithoutSubresource = pattern
		default:
			for _, wider := range []string{resource + "/*", "*/" + subresource} {
				if earlier.Has(wider) {
					errs = append(errs, field.Invalid(path.Index(i), pattern,
						fmt.Sprintf("if '%s' is present, must not specify %s", wider, pattern)))
				}
			}
		}
		earlier.Insert(pattern)
	}

	return slices.Concat(errs,
		when(len(patterns) > 1 && earlier.Has("*/*"),
			field.Invalid(path, patterns, "if '*/*' is present, must not specify other resources")),
		// "pods" before "*" has always been let through, "pods" after "*" never.
		when(earlier.Has(wildcard) && lastWithoutSubresource != wildcard,
			field.Invalid(path, patterns, "if '*' is present, must not specify other resources without subresources")),
	)
}
