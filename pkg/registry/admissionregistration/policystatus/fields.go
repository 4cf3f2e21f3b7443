// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// InEachVersion returns the set of fields under each version of the group: the versions
// have one shape.
func InEachVersion(fields ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet()
	for _, name := range fields {
		set.Insert(fieldpath.MakePathOrDie(name))
	}
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range scheme.Scheme.PrioritizedVersionsForGroup(admissionregistration.GroupName) {
		sets[fieldpath.APIVersion(version.String())] = set
	}
	return sets
}
