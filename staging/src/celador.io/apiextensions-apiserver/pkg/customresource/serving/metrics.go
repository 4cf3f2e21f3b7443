// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"errors"
	"strconv"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

const (
	namespace = "celador"
	subsystem = "crd_conversion"
)

var (
	conversionDuration = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "duration_seconds",
		Help:           "Time to convert one custom resource with conversion rules, by CustomResourceDefinition, versions and success.",
		Buckets:        metrics.ExponentialBuckets(1e-5, 4, 9),
		StabilityLevel: metrics.ALPHA,
	}, []string{"crd", "from_version", "to_version", "succeeded"})

	conversionErrors = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "errors_total",
		Help:           "Custom resources that conversion rules did not convert, by CustomResourceDefinition, versions and reason.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"crd", "from_version", "to_version", "reason"})

	unreadableObjects = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Namespace:      namespace,
		Subsystem:      "crd",
		Name:           "unreadable_objects",
		Help:           "Stored custom resources that conversion rules do not convert to a version, by CustomResourceDefinition and version.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"crd", "version"})
)

func init() { legacyregistry.MustRegister(conversionDuration, conversionErrors, unreadableObjects) }

// RecordUnreadable sets the numbers of objects of a CustomResourceDefinition that do not convert to
// each version.
func RecordUnreadable(crd string, counts map[string]int) {
	unreadableObjects.DeletePartialMatch(map[string]string{"crd": crd})
	for version, count := range counts {
		unreadableObjects.WithLabelValues(crd, version).Set(float64(count))
	}
}

// observeConversion records the conversion of one object. err is nil if the conversion has
// succeeded.
func observeConversion(crd, from, to string, duration time.Duration, err error) {
	conversionDuration.WithLabelValues(crd, from, to, strconv.FormatBool(err == nil)).Observe(duration.Seconds())
	if err == nil {
		return
	}
	reason := conversion.ReasonMetadata
	var failure *conversion.Error
	if errors.As(err, &failure) {
		reason = failure.Reason
	}
	conversionErrors.WithLabelValues(crd, from, to, string(reason)).Inc()
}

// DeleteMetrics deletes the series of a CustomResourceDefinition that does not exist any more. A
// request that has not ended may add one again.
func DeleteMetrics(crd string) {
	labels := map[string]string{"crd": crd}
	conversionDuration.DeletePartialMatch(labels)
	conversionErrors.DeletePartialMatch(labels)
	unreadableObjects.DeletePartialMatch(labels)
	defaulting.DeleteMetrics(crd)
}
