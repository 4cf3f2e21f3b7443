// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/test/benchmark/api"
	"celador.io/celador/test/benchmark/engine"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
)

const (
	// mutatingPolicies is the number of policies that change the pod in scenario S11.
	mutatingPolicies = 100
	// schemaTimeout is the time within which a plugin must have read the schema of pods.
	schemaTimeout = time.Minute
)

// allMutating runs scenario S11: the cost of a request whose object every policy changes with an
// apply configuration.
func allMutating(s *session) error {
	s.progress("S11: %d policies with an apply configuration each", mutatingPolicies)
	server, err := input.Mutations(mutatingPolicies)
	if err != nil {
		return err
	}
	var calls []func() error
	var changed []apiruntime.Object
	for i := range plugins {
		subject, object, err := mutate(i, server)
		if err != nil {
			return err
		}
		defer subject.stop()
		calls, changed = append(calls, subject.call), append(changed, object)
	}
	if !slices.Equal(leaves(changed[0]), leaves(changed[1])) {
		return errors.New("the plugins do not make the same of the pod")
	}
	costs, err := measure.Alternate(s.effort, calls...)
	if err != nil {
		return err
	}
	s.addTime("S11", "100 apply configurations", costs, 20, fmt.Sprintf("allocs: upstream %.0f, celador %.0f", costs[0].Allocations, costs[1].Allocations))
	return nil
}

// mutate starts a plugin for MutatingAdmissionPolicy, waits until it has read the schema of pods,
// and returns it with the pod that it mutated. plugin is an index of plugins.
func mutate(plugin int, server *api.Server) (*subject, apiruntime.Object, error) {
	request, err := input.Create(input.Pod())
	if err != nil {
		return nil, nil, err
	}
	name := plugins[plugin]
	started, err := engine.MutatingPolicies[plugin](server)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	ctx := context.Background()
	var object apiruntime.Object
	for deadline := time.Now().Add(schemaTimeout); ; time.Sleep(10 * time.Millisecond) {
		object, err = request.Mutate(ctx, started)
		if !apierrors.IsServiceUnavailable(err) || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		started.Stop()
		return nil, nil, fmt.Errorf("%s does not admit the pod: %w", name, err)
	}
	return &subject{
		call: func() error {
			_, err := request.Mutate(ctx, started)
			return err
		},
		stop: started.Stop,
	}, object, nil
}

// leaves returns the scalars of an object with their paths, sorted, to compare the objects that two
// plugins return. Paths do not contain indexes of lists, because upstream applies policies in
// random order, and so adds items to lists in random order.
func leaves(object apiruntime.Object) []string {
	text, err := json.Marshal(object)
	if err != nil {
		return []string{err.Error()}
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return []string{err.Error()}
	}
	result := leavesBelow("", value)
	slices.Sort(result)
	return result
}

func leavesBelow(path string, value any) (result []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			result = append(result, leavesBelow(path+"/"+name, below)...)
		}
	case []any:
		for _, below := range v {
			result = append(result, leavesBelow(path+"/*", below)...)
		}
	default:
		result = []string{fmt.Sprint(path, "=", v)}
	}
	return result
}
