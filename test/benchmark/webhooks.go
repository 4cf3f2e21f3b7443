// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/celador/test/benchmark/engine"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
)

// webhookCount is the number of webhooks in scenario S10. None of their match conditions is true
// for the request.
const webhookCount = 100

// steps holds the two kinds of webhooks with the plugins that call them, upstream's and Celador's.
var steps = []struct {
	name    string
	plugins [2]engine.Start
}{
	{"validating", engine.ValidatingWebhooks},
	{"mutating", engine.MutatingWebhooks},
}

// allExcluded runs scenario S10: the cost of a request for which no webhook is called, because the
// match condition of each is false.
func allExcluded(s *session) error {
	for step := range steps {
		about := fmt.Sprintf("100 %s webhooks, all excluded", steps[step].name)
		s.progress("S10: %s", about)
		costs, err := s.compareExcluded(step, input.ConditionOf)
		if err != nil {
			return err
		}
		same, err := s.compareExcluded(step, input.SameCondition)
		if err != nil {
			return err
		}
		s.addTime("S10", about, costs, 15, fmt.Sprintf("no connection opened; allocs: upstream %.0f, celador %.0f; with the same conditions in all: upstream %.0f µs, celador %.1f µs, %.1fx",
			costs[0].Allocations, costs[1].Allocations, same[0].Nanoseconds/1e3, same[1].Nanoseconds/1e3, same[0].Nanoseconds/same[1].Nanoseconds))
	}
	return nil
}

// compareExcluded measures a request that the match conditions of all webhooks exclude, and returns
// its cost with upstream's plugin and with Celador's. It returns an error if a plugin connects to a
// webhook nevertheless. step is an index of steps, and condition returns the match condition of the
// i-th webhook.
func (s *session) compareExcluded(step int, condition func(int) v1.MatchCondition) ([]measure.Cost, error) {
	endpoint, err := listen()
	if err != nil {
		return nil, err
	}
	defer endpoint.close()
	var calls []func() error
	for i := range plugins {
		subject, err := startWebhooks(step, i, endpoint, condition)
		if err != nil {
			return nil, err
		}
		defer subject.stop()
		calls = append(calls, subject.call)
	}
	opened := endpoint.opened.Load()
	costs, err := measure.Alternate(s.effort, calls...)
	if more := endpoint.opened.Load() - opened; err == nil && more > 0 {
		err = fmt.Errorf("%d connections to webhooks that exclude the request", more)
	}
	return costs, err
}

// startWebhooks starts a plugin and checks that it calls the webhooks whose match conditions are
// true, and no others. step and plugin are indexes of steps and plugins.
func startWebhooks(step, plugin int, endpoint *endpoint, condition func(int) v1.MatchCondition) (*subject, error) {
	excluded, excludedErr := input.Create(input.Pod())
	included, includedErr := input.Create(input.Pod(input.NFS))
	webhooks := input.Webhooks{URL: endpoint.url, Number: webhookCount, Condition: condition}
	server, serverErr := webhooks.Server()
	if err := errors.Join(excludedErr, includedErr, serverErr); err != nil {
		return nil, err
	}
	name := plugins[plugin]
	started, err := steps[step].plugins[plugin](server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ctx := context.Background()
	s := &subject{
		call: func() error { return excluded.Send(ctx, started) },
		stop: started.Stop,
	}
	before := endpoint.opened.Load()
	if err := s.call(); err != nil || endpoint.opened.Load() != before {
		s.stop()
		return nil, fmt.Errorf("%s calls webhooks that exclude the request: %w", name, err)
	}
	if err := included.Send(ctx, started); !apierrors.IsInternalError(err) || endpoint.opened.Load() == before {
		s.stop()
		return nil, fmt.Errorf("%s answers %v where a webhook that cannot be reached has to be called", name, err)
	}
	return s, nil
}

// An endpoint is the server of all webhooks. It counts the connections and closes them, because the
// measured request must not open any.
type endpoint struct {
	url    string
	opened atomic.Int64
	close  func() error
}

func listen() (*endpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("endpoint of webhooks: %w", err)
	}
	e := &endpoint{url: "https://" + listener.Addr().String(), close: listener.Close}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // closed
			}
			e.opened.Add(1)
			connection.Close()
		}
	}()
	return e, nil
}
