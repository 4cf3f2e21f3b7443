// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// enforced is the number of matching policies in scenario S9.
	enforced = 100
	// blocks is the number of blocks of measurements in scenario S9. Servers and namespaces take
	// turns within a block, so that the noise of the machine affects all of them alike. In each
	// block, each server gets as many requests as posts says in each of two namespaces: policies
	// match the requests in one of them only.
	blocks = 700
	posts  = 25
)

// A latency holds the nanoseconds of each request to one server, in blocks.
type latency struct {
	// without has the requests that no policy matches, and with those that all policies match.
	without, with measure.Samples
}

// added returns by how much policies raise a percentile of the latency. chosen are indexes of
// blocks.
func (l *latency) added(percentile float64, chosen []int) float64 {
	return l.with.Percentile(percentile, chosen) - l.without.Percentile(percentile, chosen)
}

// wholeServer runs scenario S9: the latency that policies add to the creation of a deployment.
func wholeServer(s *session) error { return s.withHosts(s.wholeServer) }

func (s *session) wholeServer(ctx context.Context, hosts []*host) error {
	for _, h := range hosts {
		if err := h.enforce(ctx, policiesFor(enforced, "deployments").Cluster); err != nil {
			return err
		}
		for _, namespace := range []string{input.OtherNamespaceName, input.NamespaceName} { // to warm up
			if _, err := h.post(ctx, namespace, 10*posts); err != nil {
				return err
			}
		}
	}
	latencies := make([]latency, len(hosts))
	for block := range blocks {
		if block%20 == 0 {
			s.progress("S9: block %d of %d", block+1, blocks)
		}
		for _, i := range inTurn(block, len(hosts)) {
			sides := []struct {
				namespace string
				samples   *measure.Samples
			}{{input.OtherNamespaceName, &latencies[i].without}, {input.NamespaceName, &latencies[i].with}}
			for _, side := range inTurn(block/2, len(sides)) {
				took, err := hosts[i].post(ctx, sides[side].namespace, posts)
				if err != nil {
					return err
				}
				*sides[side].samples = append(*sides[side].samples, took)
			}
		}
	}
	s.addLatencies(latencies, 50, 12)
	s.addLatencies(latencies, 99, 10)
	return nil
}

// inTurn returns the numbers from 0 to n-1, in reverse order if turn is odd. With it, no server or
// namespace is always the first to be measured.
func inTurn(turn, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if turn%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// addLatencies adds a row for the latency that policies add at a percentile. times is the target.
func (s *session) addLatencies(latencies []latency, percentile, times float64) {
	added, all := [2]measure.Estimate{}, inTurn(0, blocks)
	note := "95 % of "
	for i := range latencies {
		added[i] = measure.Bootstrap(blocks, func(chosen []int) float64 { return latencies[i].added(percentile, chosen) })
		note += fmt.Sprintf("%s: %s (%v without policies, %v with); ", plugins[i], added[i].Format(report.Nanoseconds.Format),
			rounded(latencies[i].without.Percentile(percentile, all)), rounded(latencies[i].with.Percentile(percentile, all)))
	}
	ratio := measure.Bootstrap(blocks, func(chosen []int) float64 {
		return measure.Ratio(latencies[0].added(percentile, chosen), latencies[1].added(percentile, chosen))
	})
	s.Add(report.Row{
		Scenario: "S9", About: fmt.Sprintf("POST, added by 100 policies, p%g", percentile), Unit: report.Nanoseconds,
		Upstream: added[0].Value, Celador: added[1].Value, Target: report.Target{Times: times},
		Interval: &ratio, BelowNoise: added[0].Low <= 0 || added[1].Low <= 0,
		Note: note + "ratio: " + ratio.Format(report.FormatRatio),
	})
}

func rounded(nanoseconds float64) time.Duration {
	return time.Duration(nanoseconds).Round(10 * time.Microsecond)
}

// post creates the given number of deployments in a namespace, one after the other, and returns the
// nanoseconds of each request.
func (h *host) post(ctx context.Context, namespace string, number int) ([]float64, error) {
	var took []float64
	for range number {
		deployment := input.Deployment(input.Allowed)
		start := time.Now()
		if err := h.deploy(ctx, namespace, deployment, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		took = append(took, float64(time.Since(start)))
	}
	return took, nil
}
