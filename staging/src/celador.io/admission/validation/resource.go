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

// checkResources checks the resources of a rule: "pods" or "pods/status", and the wildcards "*",
// "pods/*", "*/scale" and "*/*". A pattern with a subresource must not follow a wildcard that
// includes it. "*/*" must be the only pattern.
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
		// As in Kubernetes, "pods" is valid before "*" and invalid after it.
		when(earlier.Has(wildcard) && lastWithoutSubresource != wildcard,
			field.Invalid(path, patterns, "if '*' is present, must not specify other resources without subresources")),
	)
}
