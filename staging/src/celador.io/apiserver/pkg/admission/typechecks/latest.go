// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typechecks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// HasLatest reports whether lookups of a kind can have consistency Latest on this server, which
// must be able to tell how new its objects of the kind are. resource serves the kind, and is empty
// if another server does. HasLatest must answer quickly, and be safe for concurrent use. If it
// cannot find out, it returns true.
type HasLatest func(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) bool

// latestWarnings returns a warning for each lookup with consistency Latest whose kind cannot have
// it, as has tells. It returns none for kinds that are not served, which the status of the policy
// reports.
func latestWarnings(ctx context.Context, lookups []v1.Lookup, types typecheck.Types, has HasLatest) []string {
	var warnings []string
	for i := range lookups {
		l := &lookups[i]
		version, err := schema.ParseGroupVersion(l.APIVersion)
		if err != nil || l.Consistency == nil || *l.Consistency != v1.LatestLookupConsistency {
			continue
		}
		kind, resource := version.WithKind(l.Kind), schema.GroupVersionResource{}
		switch mapping, err := types.RESTMapping(kind.GroupKind(), kind.Version); {
		case meta.IsNoMatchError(err):
			continue
		case err == nil:
			resource = mapping.Resource
		}
		if !has(ctx, kind, resource) {
			warnings = append(warnings, fmt.Sprintf("%s: expressions that read the lookup fail, because this server cannot tell how new its objects of kind %s in %s are: remove consistency %s",
				field.NewPath("spec", "lookups").Index(i).Child("consistency"), l.Kind, l.APIVersion, v1.LatestLookupConsistency))
		}
	}
	return warnings
}
