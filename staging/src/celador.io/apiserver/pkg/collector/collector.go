// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package collector collects metrics whose values are read when metrics are gathered, such as the
// number of policies. So the code that adds or removes what is counted need not update metrics.
package collector

import (
	"sync"

	"k8s.io/component-base/metrics"
)

// A Collector collects gauges or counters from readers. It implements metrics.StableCollector and
// is safe for concurrent use once it is registered.
type Collector struct {
	metrics.BaseStableCollector
	descs     []*metrics.Desc
	valueType metrics.ValueType

	lock    sync.Mutex
	readers map[string]Reader
}

// A Reader calls observe with each value of a metric, once for each combination of labels. It is
// safe for concurrent use.
type Reader func(observe func(desc *metrics.Desc, value int, labels ...string))

// Gauges returns a collector of the described gauges without readers.
func Gauges(descs ...*metrics.Desc) *Collector { return newCollector(metrics.GaugeValue, descs) }

// Counters returns a collector of the described counters without readers.
func Counters(descs ...*metrics.Desc) *Collector { return newCollector(metrics.CounterValue, descs) }

func newCollector(valueType metrics.ValueType, descs []*metrics.Desc) *Collector {
	return &Collector{descs: descs, valueType: valueType, readers: map[string]Reader{}}
}

// SetReader adds a reader, or replaces the reader with the same name.
func (c *Collector) SetReader(name string, reader Reader) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.readers[name] = reader
}

// DescribeWithStability implements metrics.StableCollector.
func (c *Collector) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// CollectWithStability implements metrics.StableCollector.
func (c *Collector) CollectWithStability(ch chan<- metrics.Metric) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, reader := range c.readers {
		reader(func(desc *metrics.Desc, value int, labels ...string) {
			ch <- metrics.NewLazyConstMetric(desc, c.valueType, float64(value), labels...)
		})
	}
}
