// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// enforced is the number of matching policies in S9.
	enforced = 100
	// blocks is the number of times that S9 creates and deletes all bindings. posts is the number
	// of requests to each server before and after.
	blocks = 10
	posts  = 300
	// resolution is the smallest significant difference of latencies, in nanoseconds.
	resolution = 1000
)

// wholeServer runs S9: the latency that policies add to the creation of a deployment.
func wholeServer(s *session) error { return s.withHosts(s.wholeServer) }

func (s *session) wholeServer(ctx context.Context, hosts []*host) error {
	policies, probe := policiesFor(enforced, "deployments"), denyingAll("probe")
	for _, h := range hosts {
		for _, policy := range append(policies.Policies, probe) {
			if err := h.addPolicy(ctx, policy); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
	}
	bindings := append(policies.Bindings, forLabel(probe, 0, "probe", "true"))
	if err := postAll(ctx, hosts, make([][]float64, len(hosts))); err != nil { // to warm up
		return err
	}
	without, with := make([][]float64, len(hosts)), make([][]float64, len(hosts))
	for block := range blocks {
		s.progress("S9: block %d of %d", block+1, blocks)
		if err := postAll(ctx, hosts, without); err != nil {
			return err
		}
		if err := change(ctx, hosts, bindings, (*host).bind, apierrors.IsInvalid); err != nil {
			return err
		}
		if err := postAll(ctx, hosts, with); err != nil {
			return err
		}
		if err := change(ctx, hosts, bindings, (*host).unbind, func(err error) bool { return err == nil }); err != nil {
			return err
		}
	}
	s.addLatencies(hosts, without, with, 50)
	s.addLatencies(hosts, without, with, 99)
	return nil
}

// addLatencies adds a row for the latency that policies add at a percentile.
func (s *session) addLatencies(hosts []*host, without, with [][]float64, percentile float64) {
	var added []float64
	var notes []string
	for i, h := range hosts {
		before, after := measure.Percentile(without[i], percentile), measure.Percentile(with[i], percentile)
		added = append(added, max(after-before, resolution))
		notes = append(notes, fmt.Sprintf("%s %v without policies, %v with", h.name, rounded(before), rounded(after)))
	}
	s.Add(report.Row{
		Scenario: "S9", About: fmt.Sprintf("POST, added by 100 policies, p%g", percentile), Unit: report.Nanoseconds,
		Upstream: added[0], Celador: added[1], Target: report.Target{Times: 5}, Note: strings.Join(notes, "; "),
	})
}

func rounded(nanoseconds float64) time.Duration {
	return time.Duration(nanoseconds).Round(10 * time.Microsecond)
}

// change creates or deletes bindings on all servers. It then sends requests that the last binding
// matches, until their result shows that the change is enforced.
func change(ctx context.Context, hosts []*host, bindings []*v1.ValidatingAdmissionPolicyBinding, change func(*host, context.Context, *v1.ValidatingAdmissionPolicyBinding) error, effect func(error) bool) error {
	for _, h := range hosts {
		for _, binding := range bindings {
			if err := change(h, ctx, binding); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
		if err := h.await(ctx, "probe", "true", effect); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return nil
}

// postAll creates deployments on all servers in turn and appends the latencies, in nanoseconds.
func postAll(ctx context.Context, hosts []*host, latencies [][]float64) error {
	for range posts {
		for i, h := range hosts {
			deployment := input.Deployment(input.Allowed)
			start := time.Now()
			if err := h.deploy(ctx, deployment, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
			latencies[i] = append(latencies[i], float64(time.Since(start)))
		}
	}
	return nil
}
