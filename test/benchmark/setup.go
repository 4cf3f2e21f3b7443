// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/test/benchmark/api"
	"celador.io/celador/test/benchmark/engine"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
)

// A setup holds the objects that both plugins read, and an object that their policies deny.
type setup struct {
	input.Cluster
	// denied is an object that the policies deny. A request for it proves that a plugin enforces
	// them.
	denied apiruntime.Object
}

// policiesFor returns a setup of policies for a resource, each with one binding.
func policiesFor(policies int, resource string) setup {
	var in setup
	for i := range policies {
		policy := input.Policy(i, resource)
		in.Add(policy, input.MatchingBinding(policy, 0))
	}
	return in
}

// plugins holds the names of the two sides of every comparison. Lists with an element for each
// side, such as costs, are in the same order.
var plugins = [2]string{"upstream", "celador"}

// measure returns the cost of a request with each of the given sides, which are indexes of plugins.
func (s *session) measure(in setup, sides ...int) ([]measure.Cost, error) {
	subjects, err := s.start(in, sides...)
	if err != nil {
		return nil, err
	}
	defer stopAll(subjects)
	var calls []func() error
	for _, subject := range subjects {
		calls = append(calls, subject.call)
	}
	return measure.Alternate(s.effort, calls...)
}

// start starts the plugins of the given sides, which are indexes of plugins. The caller must stop
// them.
func (s *session) start(in setup, sides ...int) ([]*subject, error) {
	server, err := in.Server()
	if err != nil {
		return nil, err
	}
	var subjects []*subject
	for _, i := range sides {
		begun := time.Now()
		subject, err := start(i, server, in)
		if err != nil {
			stopAll(subjects)
			return nil, err
		}
		s.progress("  %s is ready after %v", plugins[i], time.Since(begun).Round(time.Millisecond))
		subjects = append(subjects, subject)
	}
	return subjects, nil
}

func stopAll(subjects []*subject) {
	for _, subject := range subjects {
		subject.stop()
	}
}

// A subject is a started plugin that is measured. call sends it the request that is measured, and
// returns an error if the request is not admitted.
type subject struct {
	call func() error
	stop func()
}

// start starts a plugin, and checks that it admits the measured request and denies the object
// denied of the setup. plugin is an index of plugins.
func start(plugin int, server *api.Server, in setup) (*subject, error) {
	admitted, err := input.Create(input.Deployment(input.Allowed))
	if err != nil {
		return nil, err
	}
	denied, err := input.Create(in.denied)
	if err != nil {
		return nil, err
	}
	name := plugins[plugin]
	started, err := engine.ValidatingPolicies[plugin](server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ctx := context.Background()
	s := &subject{
		call: func() error { return admitted.Send(ctx, started) },
		stop: started.Stop,
	}
	if err := s.call(); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s does not admit the object: %w", name, err)
	}
	// An error other than Invalid means that the plugin is not ready.
	if err := denied.Send(ctx, started); !apierrors.IsInvalid(err) {
		s.stop()
		return nil, fmt.Errorf("%s answers %v to an object that violates the policies", name, err)
	}
	return s, nil
}
