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

// registered returns the metric that another package has registered under a name, so that the
// caller can keep its series. Kubernetes does not export its metrics, and its functions look the
// series up by their labels each time. registered returns false if there is no such metric of type
// M, for example because another release of Kubernetes has renamed it.
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
		// To find the metric, another one with its description is registered: the registry refuses
		// it, and returns the first.
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

// described is a metric that consists of a description only. registered uses it to look up the
// metric that has the same description.
type described struct{ *prometheus.Desc }

// Describe implements prometheus.Collector.
func (d described) Describe(all chan<- *prometheus.Desc) { all <- d.Desc }

// Collect implements prometheus.Collector.
func (described) Collect(chan<- prometheus.Metric) {}
