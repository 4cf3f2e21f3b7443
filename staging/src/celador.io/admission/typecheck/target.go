// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxTypes limits the types of a rule. Rules after one that reaches it are not checked.
	maxTypes = 10
	// maxLookups limits the combinations of groups, versions and resources of a policy's rules. A
	// rule with a few short lists can have very many of them, most of which do not exist.
	maxLookups = 10_000
)

var (
	errWildcard    = errors.New(`types behind "*" are not checked`)
	errSubresource = errors.New("subresources are not checked")
	errTooMany     = fmt.Errorf("no more than %d types of a rule are checked", maxTypes)
	errTooLong     = fmt.Errorf("no more than %d combinations of groups, versions and resources of a policy are looked at", maxLookups)
)

// target is a type that match constraints name. field is the field path of its rule.
type target struct {
	field    string
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
}

// findTargets returns the types that match constraints name, without duplicates, sorted by group,
// version and kind. It adds to result what will not be checked, with the reason.
func (c *Checker) findTargets(constraints *v1.MatchResources, result *Result) []target {
	if constraints == nil {
		return nil
	}
	found := map[schema.GroupVersionKind]target{}
	var full error
	lookups := 0
	for i := range constraints.ResourceRules {
		path := constraintsField.Child("resourceRules").Index(i)
		if full == nil {
			full = c.addTargets(path, &constraints.ResourceRules[i].Rule, &lookups, found, result)
		} else {
			result.omit(Unchecked{Field: path.String(), Reason: TooManyTypes, Err: full})
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b target) int {
		return cmp.Or(
			cmp.Compare(a.kind.Group, b.kind.Group),
			cmp.Compare(a.kind.Version, b.kind.Version),
			cmp.Compare(a.kind.Kind, b.kind.Kind))
	})
}

// addTargets adds the types of a rule to found, and what will not be checked to result. It returns
// an error if a limit is reached, after which no further rules are checked.
func (c *Checker) addTargets(path *field.Path, rule *v1.Rule, lookups *int, found map[schema.GroupVersionKind]target, result *Result) error {
	count := 0
	for resource := range resources(path, rule, result) {
		var full error
		switch {
		case count == maxTypes:
			full = errTooMany
		case *lookups == maxLookups:
			full = errTooLong
		}
		if full != nil {
			result.omit(Unchecked{Field: path.String(), Reason: TooManyTypes, Err: full})
			return full
		}
		*lookups++
		kinds, err := c.types.KindsFor(resource)
		// The RESTMapper treats an empty group or version as a wildcard, and so finds kinds that
		// the rule does not name.
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k schema.GroupVersionKind) bool {
			return k.GroupVersion() != resource.GroupVersion()
		})
		if err == nil && len(kinds) == 0 {
			err = &meta.NoResourceMatchError{PartialResource: resource}
		}
		if err != nil {
			result.omit(Unchecked{Field: path.String(), Resource: resource, Reason: reasonOf(err), Err: err})
			continue
		}
		for _, kind := range kinds {
			if count == maxTypes {
				result.omit(Unchecked{Field: path.String(), Reason: TooManyTypes, Err: errTooMany})
				return errTooMany
			}
			if _, known := found[kind]; !known {
				found[kind] = target{path.String(), resource, kind}
			}
			count++
		}
	}
	if count == maxTypes {
		return errTooMany
	}
	return nil
}

// hasWildcard reports whether a rule has a "*" in its groups, versions or resources.
func (r *Result) hasWildcard() bool {
	return slices.ContainsFunc(r.Unchecked, func(u Unchecked) bool { return u.Reason == Wildcard })
}

// resources returns the sorted combinations of groups, versions and resources of a rule. It leaves
// out wildcards and subresources, and adds them to result.
func resources(path *field.Path, rule *v1.Rule, result *Result) iter.Seq[schema.GroupVersionResource] {
	none := func(func(schema.GroupVersionResource) bool) {}
	isWildcard := func(name string) bool { return strings.Contains(name, "*") }
	if slices.ContainsFunc(rule.APIGroups, isWildcard) {
		result.omit(Unchecked{Field: path.Child("apiGroups").String(), Reason: Wildcard, Err: errWildcard})
		return none
	}
	if slices.ContainsFunc(rule.APIVersions, isWildcard) {
		result.omit(Unchecked{Field: path.Child("apiVersions").String(), Reason: Wildcard, Err: errWildcard})
		return none
	}
	var names []string
	for i, name := range rule.Resources {
		at := path.Child("resources").Index(i).String()
		switch {
		case isWildcard(name):
			result.omit(Unchecked{Field: at, Reason: Wildcard, Err: errWildcard})
		case strings.Contains(name, "/"):
			result.omit(Unchecked{Field: at, Reason: Subresource, Err: errSubresource})
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return func(yield func(schema.GroupVersionResource) bool) {
		for _, group := range slices.Sorted(slices.Values(rule.APIGroups)) {
			for _, version := range slices.Sorted(slices.Values(rule.APIVersions)) {
				for _, name := range names {
					if !yield(schema.GroupVersionResource{Group: group, Version: version, Resource: name}) {
						return
					}
				}
			}
		}
	}
}
