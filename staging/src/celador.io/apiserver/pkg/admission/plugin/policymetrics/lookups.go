// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"time"

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

var lookupChanges = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Namespace:      namespace,
	Subsystem:      subsystem,
	Name:           "lookup_change_duration_seconds",
	Help:           "Time from a seen change of an object until lookups find it, by group, version and kind of the object. Most of it is taken by the expressions of indexes. Later changes of the kind wait.",
	Buckets:        metrics.ExponentialBuckets(1e-5, 4, 10),
	StabilityLevel: metrics.ALPHA,
}, []string{"lookup_group", "lookup_version", "lookup_kind"})

// ObserveLookupChange records the time that a change of an object of a looked up kind has taken.
func ObserveLookupChange(kind schema.GroupVersionKind, elapsed time.Duration) {
	lookupChanges.WithLabelValues(kind.Group, kind.Version, kind.Kind).Observe(elapsed.Seconds())
}

// ForgetLookupChanges removes the times of a kind that is not looked up any more.
func ForgetLookupChanges(kind schema.GroupVersionKind) {
	lookupChanges.DeleteLabelValues(kind.Group, kind.Version, kind.Kind)
}

// lookedUp holds the kinds that policies look up, and the numbers of their objects.
var lookedUp = collector.Gauges(lookupKinds, lookupObjects, unindexedObjects)

// MeasureLookups sets the function that provides the metrics of looked up objects, in place of the
// function of an earlier call. each is called when metrics are gathered. It must call observe for
// each kind that policies look up, with the objects of the kind or the reason why they are not
// known. each must be safe for concurrent use.
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
