// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"

	"celador.io/admission/lookups"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
	"celador.io/apiserver/pkg/collector"
)

var (
	lookupKinds = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "lookup_kinds"),
		"Kinds of objects that policies look up, by state: known; waiting, as the objects or the keys of an index are not known yet; unserved, as no resource serves the kind.",
		[]string{"state"}, nil, metrics.ALPHA, "")
	lookupObjects = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "lookup_objects"),
		"Objects that lookups of policies find, by group, version and kind of the objects.",
		[]string{"lookup_group", "lookup_version", "lookup_kind"}, nil, metrics.ALPHA, "")
	unindexedObjects = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "lookup_unindexed_objects"),
		"Objects that no key of a lookup's index finds because their keys cannot be computed, by group, version and kind of the objects. An object counts once for each index.",
		[]string{"lookup_group", "lookup_version", "lookup_kind"}, nil, metrics.ALPHA, "")
)

// lookedUp holds the kinds that policies look up, and the numbers of their objects.
var lookedUp = collector.Gauges(lookupKinds, lookupObjects, unindexedObjects)

// MeasureLookups sets the function that calls its argument with each kind that policies look up, and
// with its objects or the reason why they are not known, when metrics are gathered. It replaces the
// function of an earlier call, and must be safe for concurrent use.
func MeasureLookups(each func(observe func(schema.GroupVersionKind, *lookups.State, error))) {
	lookedUp.SetReader("", func(observe func(*metrics.Desc, int, ...string)) {
		kinds := map[string]int{"known": 0, "waiting": 0, "unserved": 0}
		each(func(kind schema.GroupVersionKind, state *lookups.State, err error) {
			switch {
			case err == nil:
				kinds["known"]++
				observe(lookupObjects, state.Len(""), kind.Group, kind.Version, kind.Kind)
				observe(unindexedObjects, state.Unindexed(), kind.Group, kind.Version, kind.Kind)
			case paramsource.NotServed(err):
				kinds["unserved"]++
			default:
				kinds["waiting"]++
			}
		})
		for state, n := range kinds {
			observe(lookupKinds, n, state)
		}
	})
}
