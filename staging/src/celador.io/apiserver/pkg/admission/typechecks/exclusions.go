// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typechecks

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// maxExclusions limits the warnings of exclusionWarnings.
const maxExclusions = 4

// usualVersions are the versions that a "*" stands for: Kubernetes' names of the first versions of
// an API. The server cannot list the versions of a resource without requests.
var usualVersions = func() (names []string) {
	for major := 1; major <= 3; major++ {
		names = append(names, fmt.Sprintf("v%d", major))
		for minor := 1; minor <= 3; minor++ {
			names = append(names, fmt.Sprintf("v%dbeta%d", major, minor), fmt.Sprintf("v%dalpha%d", major, minor))
		}
	}
	return names
}()

// exclusionWarnings returns a warning for each resource of which an exclude rule names one version
// and a resource rule matches another. With matchPolicy Equivalent, the exclude rule also excludes
// the requests in the other version, since they are for the same objects. Both versions must be
// served.
func exclusionWarnings(match *v1.MatchResources, types typecheck.Types) []string {
	if match == nil || match.MatchPolicy != nil && *match.MatchPolicy == v1.Exact {
		return nil
	}
	var warnings []string
	for i := range match.ExcludeResourceRules {
		excluded := &match.ExcludeResourceRules[i]
		for _, resource := range literal(excluded.Resources) {
			for _, group := range literal(excluded.APIGroups) {
				text := exclusionWarning(match, i, schema.GroupResource{Group: group, Resource: resource}, types)
				if text != "" && len(warnings) < maxExclusions {
					warnings = append(warnings, text)
				}
			}
		}
	}
	return warnings
}

// exclusionWarning returns the warning about one resource of an exclude rule, or "" if there is
// none.
func exclusionWarning(match *v1.MatchResources, exclude int, resource schema.GroupResource, types typecheck.Types) string {
	excluded := &match.ExcludeResourceRules[exclude]
	served := func(version string) bool {
		kinds, err := types.KindsFor(resource.WithVersion(version))
		return err == nil && len(kinds) > 0
	}
	versions := slices.DeleteFunc(literal(excluded.APIVersions), func(version string) bool { return !served(version) })
	if len(versions) == 0 {
		return ""
	}
	for i := range match.ResourceRules {
		included := &match.ResourceRules[i]
		if !overlap(included.Operations, excluded.Operations) || !slices.Contains(included.APIGroups, resource.Group) && !slices.Contains(included.APIGroups, "*") ||
			!slices.Contains(included.Resources, resource.Resource) && !slices.Contains(included.Resources, "*") && !slices.Contains(included.Resources, "*/*") {
			continue
		}
		candidates := literal(included.APIVersions)
		if slices.Contains(included.APIVersions, "*") {
			candidates = usualVersions
		}
		for _, version := range candidates {
			if slices.Contains(excluded.APIVersions, version) || !served(version) {
				continue
			}
			path := field.NewPath("spec", "matchConstraints")
			return fmt.Sprintf("%s: with matchPolicy Equivalent, the rule for %s in %s also excludes requests in %s, which %s matches: to exclude requests in one version, write a match condition such as request.requestResource.version != '%s' instead",
				path.Child("excludeResourceRules").Index(exclude), resource, strings.Join(versions, " and "), version, path.Child("resourceRules").Index(i), versions[0])
		}
	}
	return ""
}

// literal returns the names that are neither patterns nor names of subresources.
func literal(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.ContainsAny(name, "*/") })
}

func overlap(a, b []v1.OperationType) bool {
	return slices.Contains(a, v1.OperationAll) || slices.Contains(b, v1.OperationAll) ||
		slices.ContainsFunc(a, func(operation v1.OperationType) bool { return slices.Contains(b, operation) })
}
