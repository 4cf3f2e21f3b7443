// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// clients is the number of clients that send requests at the same time in scenario S16.
	clients = 8
	// window is the duration of one measurement of the rate of requests. windows is the number of
	// these measurements for each server and number of policies.
	window  = 3 * time.Second
	windows = 8
	// fewWindows is the number of measurements with those numbers of policies that only the chart
	// shows, and that have no row.
	fewWindows = 2
)

// tiers holds the numbers of policies that match a request in scenario S16. Each tier has a
// namespace. The label tier of the namespace is the number, by which bindings select it.
var tiers = []int{0, 1, 10, 100, 1000}

const tierLabel = "tier"

// throughput runs scenario S16: the maximum number of deployments that several clients can create
// in a second. The two servers are loaded in turn, never at the same time.
func throughput(s *session) error { return s.withHosts(s.throughput) }

func (s *session) throughput(ctx context.Context, hosts []*host) error {
	rates := map[int][]measure.Samples{}
	for _, tier := range tiers {
		rates[tier] = make([]measure.Samples, len(hosts))
		for _, h := range hosts {
			if err := h.addTier(ctx, tier); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
	}
	// Policies may slow a server down also where they do not match, so those that only the last
	// tier needs are stored after the others are measured.
	last, stored := len(tiers)-1, 0
	for _, stage := range [][]int{tiers[:last], tiers[last:]} {
		policies := stage[len(stage)-1]
		for _, h := range hosts {
			s.progress("S16: %d policies on %s", policies, h.name)
			if err := h.storeTiers(ctx, stored, policies); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
		stored = policies
		for block := range windows {
			for _, tier := range stage {
				if tier != 0 && tier != enforced && block >= fewWindows {
					continue
				}
				s.progress("S16: window %d with %d policies", block+1, tier)
				for _, i := range inTurn(block, len(hosts)) {
					rate, err := hosts[i].rate(ctx, tierName(tier))
					if err != nil {
						return fmt.Errorf("%s: %w", hosts[i].name, err)
					}
					rates[tier][i] = append(rates[tier][i], []float64{rate})
				}
			}
		}
	}
	s.addThroughput(rates)
	return nil
}

// addThroughput adds the rows of scenario S16 and the points of its chart. rates has the rates by
// number of policies, and then by server.
func (s *session) addThroughput(rates map[int][]measure.Samples) {
	median := func(tier, server int, chosen []int) float64 { return rates[tier][server].Percentile(50, chosen) }
	for _, tier := range tiers {
		all := inTurn(0, len(rates[tier][0]))
		s.Throughput = append(s.Throughput, report.Rates{Policies: tier, Upstream: median(tier, 0, all), Celador: median(tier, 1, all)})
	}
	var rate, share [2]measure.Estimate
	for i := range plugins {
		rate[i] = measure.Bootstrap(windows, func(chosen []int) float64 { return median(enforced, i, chosen) })
		share[i] = measure.Bootstrap(windows, func(chosen []int) float64 {
			return 100 * measure.Ratio(median(enforced, i, chosen), median(0, i, chosen))
		})
	}
	interval := func(of [2]measure.Estimate, unit report.Unit) string {
		return fmt.Sprintf("95 %% of upstream: %s; celador: %s", of[0].Format(unit.Format), of[1].Format(unit.Format))
	}
	s.Add(report.Row{
		Scenario: "S16", About: "POSTs with 100 policies", Unit: report.PerSecond,
		Upstream: rate[0].Value, Celador: rate[1].Value, Target: report.Target{Times: 3},
		Note: fmt.Sprintf("%d clients; %s", clients, interval(rate, report.PerSecond)),
	})
	s.Add(report.Row{
		Scenario: "S16", About: "of the rate without policies", Unit: report.Percent,
		Upstream: share[0].Value, Celador: share[1].Value, Target: report.Target{Min: 85},
		Note: interval(share, report.Percent),
	})
}

// tierName returns the name of the namespace in which the given number of policies match.
func tierName(policies int) string { return fmt.Sprintf("tier-%d", policies) }

// addTier creates the namespace of a tier.
func (h *host) addTier(ctx context.Context, policies int) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tierName(policies), Labels: map[string]string{tierLabel: fmt.Sprint(policies)}}}
	_, err := h.core.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return err
}

// storeTiers stores the policies from number from up to number to-1, and waits until they are
// enforced. A policy matches in each tier whose number is greater than the policy's, so the number
// of a tier is how many policies match in it.
func (h *host) storeTiers(ctx context.Context, from, to int) error {
	cluster := policiesFor(to, "deployments").Cluster
	for i, binding := range cluster.Bindings {
		var values []string
		for _, tier := range tiers {
			if i < tier {
				values = append(values, fmt.Sprint(tier))
			}
		}
		binding.Spec.MatchResources.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: tierLabel, Operator: metav1.LabelSelectorOpIn, Values: values},
		}}
	}
	cluster.Policies, cluster.Bindings = cluster.Policies[from:], cluster.Bindings[from:]
	probe := denyingAll(fmt.Sprintf("probe-%d", to), "configmaps")
	cluster.Add(probe, forLabel(probe, 0, probe.Name, "true"))
	if err := h.store(ctx, cluster); err != nil {
		return err
	}
	return h.awaitDenial(ctx, probe.Name, "true")
}

// rate returns the number of deployments a second that all clients together create in a namespace.
// It counts those that are created before the window ends.
func (h *host) rate(ctx context.Context, namespace string) (float64, error) {
	var group sync.WaitGroup
	var created atomic.Int64
	errs := make([]error, clients)
	begun := time.Now()
	for client := range clients {
		group.Go(func() {
			for {
				errs[client] = h.deploy(ctx, namespace, input.Deployment(input.Allowed), metav1.CreateOptions{})
				if errs[client] != nil || time.Since(begun) > window {
					return
				}
				created.Add(1)
			}
		})
	}
	group.Wait()
	return float64(created.Load()) / window.Seconds(), errors.Join(errs...)
}
