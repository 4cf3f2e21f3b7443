// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/benchmark/controlplane"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// updateInterval is the time between two updates of policies in scenario S17.
	updateInterval = 10 * time.Millisecond
	// updated is how long policies are updated while the CPU time is measured. decided is how long
	// requests are sent in one measurement of their latency.
	updated, decided = 20 * time.Second, 7 * time.Second
	// lead is the time between the first update and the first request. By then, each policy has
	// changed twice.
	lead = 3 * time.Second
	// aftermath is the time after the last update during which CPU time is still charged to the
	// updates, because servers process some of them later: upstream reads changed policies every
	// second, and Celador compiles policies that no request needs every 10 seconds.
	aftermath = 10 * time.Second
	// stretches is the number of blocks of measurements. In each block, everything is measured once
	// with each server.
	stretches = 3
)

// updates runs scenario S17: what the updates of policies cost a server with 10,000 bindings, in
// CPU time and in the latency of its decisions.
func updates(s *session) error { return s.withHosts(s.updates) }

func (s *session) updates(ctx context.Context, hosts []*host) error {
	for _, h := range hosts {
		s.progress("S17: storing %d bindings for %s", crowdPolicies*crowdBindings, h.name)
		if err := h.store(ctx, crowd(input.NamespaceName, "deployments")); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	changed := make([]updateCosts, len(hosts))
	for block := range stretches {
		s.progress("S17: block %d of %d", block+1, stretches)
		for _, i := range inTurn(block, len(hosts)) {
			if err := changed[i].measure(ctx, hosts[i], block); err != nil {
				return fmt.Errorf("%s: %w", hosts[i].name, err)
			}
		}
	}
	s.addUpdates(changed)
	return nil
}

// updateCosts holds the measurements of one server, in blocks.
type updateCosts struct {
	// updates is the number of updates so far. It numbers the updates.
	updates int
	// cpu has the nanoseconds of CPU time that one update costs while no requests are sent.
	cpu measure.Samples
	// without and with have the nanoseconds of each request: without while no policies are updated,
	// with while they are.
	without, with measure.Samples
}

// measure adds the measurements of one block.
func (c *updateCosts) measure(ctx context.Context, h *host, block int) error {
	idle, err := h.spend(func() error { return pause(ctx, aftermath) })
	if err != nil {
		return err
	}
	spent, err := h.spend(func() error { return errors.Join(c.update(ctx, h, updated), pause(ctx, aftermath)) })
	if err != nil {
		return err
	}
	c.cpu = append(c.cpu, []float64{updateCost(idle, spent)})
	for _, side := range inTurn(block, 2) {
		if side == 0 {
			took, err := h.decideFor(ctx, decided)
			if err != nil {
				return err
			}
			c.without = append(c.without, took)
			continue
		}
		failed := make(chan error, 1)
		go func() { failed <- c.update(ctx, h, lead+decided) }()
		err := pause(ctx, lead)
		var took []float64
		if err == nil {
			took, err = h.decideFor(ctx, decided)
		}
		if err := errors.Join(err, <-failed, pause(ctx, aftermath)); err != nil {
			return err
		}
		c.with = append(c.with, took)
	}
	return nil
}

// updateCost returns the nanoseconds of CPU time that one update costs. idle is the CPU time of the
// server for as long as aftermath, without updates. spent is its CPU time during the updates and
// the aftermath.
func updateCost(idle, spent time.Duration) float64 {
	// The product of these durations overflows if the idle server takes more than 0.3 s.
	background := float64(idle) * float64(updated+aftermath) / float64(aftermath)
	return (float64(spent) - background) / float64(updated/updateInterval)
}

// spend returns the CPU time that the server uses while do runs.
func (h *host) spend(do func() error) (time.Duration, error) {
	before, err := h.CPU()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := h.CPU()
	return after - before, err
}

// pause waits for the duration, or returns an error if ctx ends first.
func pause(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(duration):
		return nil
	}
}

// update updates policies at regular intervals for the duration. It returns an error if the updates
// take much longer than that.
func (c *updateCosts) update(ctx context.Context, h *host, duration time.Duration) error {
	begun := time.Now()
	for i := range int(duration / updateInterval) {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * updateInterval)))
		c.updates++
		if err := h.replace(ctx, c.updates); err != nil {
			return err
		}
	}
	if took := time.Since(begun); took > duration*5/4 {
		return fmt.Errorf("the updates of %v took %v", duration, took)
	}
	return nil
}

// replace makes the update with the given number: it writes another spec of one of the crowd's
// policies into etcd, as another server of the cluster does. Its limits differ from those of all
// earlier specs, so that a server cannot reuse what it has compiled.
func (h *host) replace(ctx context.Context, number int) error {
	policy := input.Policy(crowdPolicies+number, "deployments")
	replaced := input.Policy(number%crowdPolicies, "deployments")
	policy.ObjectMeta = replaced.ObjectMeta
	policy.Generation = int64(1 + number)
	return controlplane.Store(ctx, h.Server, "validatingadmissionpolicies", []*v1.ValidatingAdmissionPolicy{policy})
}

// decideFor sends dry-run requests one after the other for the duration, and returns the
// nanoseconds of each.
func (h *host) decideFor(ctx context.Context, duration time.Duration) ([]float64, error) {
	var took []float64
	for begun := time.Now(); time.Since(begun) < duration; {
		start := time.Now()
		if err := h.deploy(ctx, input.NamespaceName, input.Deployment(input.Allowed), dryRun); err != nil {
			return nil, err
		}
		took = append(took, float64(time.Since(start)))
	}
	return took, nil
}

// addUpdates adds two rows to the report: the CPU time of an update, and the slowdown of requests
// while policies are updated. changed has the costs of upstream and of Celador.
func (s *session) addUpdates(changed []updateCosts) {
	var cpu, slowdown [2]measure.Estimate
	var notes []string
	all := inTurn(0, stretches)
	for i := range changed {
		c := &changed[i]
		cpu[i] = measure.Bootstrap(stretches, func(chosen []int) float64 {
			return c.cpu.Percentile(50, chosen)
		})
		slowdown[i] = measure.Bootstrap(stretches, func(chosen []int) float64 {
			return measure.Ratio(c.with.Percentile(99, chosen), c.without.Percentile(99, chosen))
		})
		notes = append(notes, fmt.Sprintf("%s: %v without updates, %v with, 95 %% of the factor: %s", plugins[i],
			rounded(c.without.Percentile(99, all)), rounded(c.with.Percentile(99, all)), slowdown[i].Format(report.Times.Format)))
	}
	s.Add(report.Row{
		Scenario: "S17", About: "CPU time of a policy's update", Unit: report.Nanoseconds,
		Upstream: cpu[0].Value, Celador: cpu[1].Value, Target: report.Target{Times: 3},
		Note: fmt.Sprintf("100 updates a second; 95 %% of upstream: %s; celador: %s", cpu[0].Format(report.Nanoseconds.Format), cpu[1].Format(report.Nanoseconds.Format)),
	})
	s.Add(report.Row{
		Scenario: "S17", About: "decision during updates, p99", Unit: report.Times,
		Upstream: slowdown[0].Value, Celador: slowdown[1].Value, Target: report.Target{Max: new(1.2)},
		Note: "in times of one without updates; " + strings.Join(notes, "; "),
	})
}
