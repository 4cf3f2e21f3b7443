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

const (
	// maxExclusions limits the warnings about one policy.
	maxExclusions = 4
	// maxExclusionLookups limits how many resources are looked up for one policy: a short list of
	// names in each field of a rule makes millions of resources.
	maxExclusionLookups = 500
)

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
// served. Of a policy with very many resources it looks at the first ones only.
func exclusionWarnings(match *v1.MatchResources, types typecheck.Types) []string {
	if match == nil || match.MatchPolicy != nil && *match.MatchPolicy == v1.Exact {
		return nil
	}
	lookups := 0
	served := func(resource schema.GroupVersionResource) bool {
		if lookups >= maxExclusionLookups {
			return false
		}
		lookups++
		kinds, err := types.KindsFor(resource)
		return err == nil && len(kinds) > 0
	}
	var warnings []string
	for i := range match.ExcludeResourceRules {
		excluded := &match.ExcludeResourceRules[i]
		versions := literal(excluded.APIVersions)
		if len(versions) == 0 {
			continue
		}
		groups := literal(excluded.APIGroups)
		for _, resource := range literal(excluded.Resources) {
			for _, group := range groups {
				if lookups >= maxExclusionLookups || len(warnings) >= maxExclusions {
					return warnings
				}
				if text := exclusionWarning(match, i, versions, schema.GroupResource{Group: group, Resource: resource}, served); text != "" {
					warnings = append(warnings, text)
				}
			}
		}
	}
	return warnings
}

// exclusionWarning returns a warning if the exclude rule at index exclude names served versions of
// resource, and a resource rule matches another served version: the exclude rule also excludes
// requests in that version. Otherwise it returns "". versions holds the versions of the exclude
// rule.
func exclusionWarning(match *v1.MatchResources, exclude int, versions []string, resource schema.GroupResource, served func(schema.GroupVersionResource) bool) string {
	excluded := &match.ExcludeResourceRules[exclude]
	versions = slices.DeleteFunc(slices.Clone(versions), func(version string) bool { return !served(resource.WithVersion(version)) })
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
			if slices.Contains(excluded.APIVersions, version) || !served(resource.WithVersion(version)) {
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
