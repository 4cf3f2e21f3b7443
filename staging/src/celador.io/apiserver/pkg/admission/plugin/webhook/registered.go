// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics/legacyregistry"
)

// registered returns the metric that another package has registered under a name. Kubernetes
// observes its metrics by their labels only, and does not export them. registered returns false if
// there is no such metric of type M, as in a release of Kubernetes that has renamed the metric.
func registered[M prometheus.Collector](name string) (metric M, ok bool) {
	registry := legacyregistry.Registerer()
	all, ok := registry.(prometheus.Collector)
	if !ok {
		return metric, false
	}
	for _, d := range descriptions(all) {
		if !strings.HasPrefix(d.String(), fmt.Sprintf("Desc{fqName: %q,", name)) {
			continue
		}
		// A registry refuses a second metric of the same description, and returns the first.
		var refused prometheus.AlreadyRegisteredError
		if errors.As(registry.Register(described{d}), &refused) {
			metric, ok = refused.ExistingCollector.(M)
			return metric, ok
		}
	}
	return metric, false
}

// descriptions returns the descriptions of all metrics of a collector.
func descriptions(c prometheus.Collector) []*prometheus.Desc {
	all := make(chan *prometheus.Desc)
	go func() {
		defer close(all)
		c.Describe(all)
	}()
	var result []*prometheus.Desc
	for d := range all {
		result = append(result, d)
	}
	return result
}

// described is a metric that has only a description.
type described struct{ *prometheus.Desc }

// Describe implements prometheus.Collector.
func (d described) Describe(all chan<- *prometheus.Desc) { all <- d.Desc }

// Collect implements prometheus.Collector.
func (described) Collect(chan<- prometheus.Metric) {}
