// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/test/benchmark/api"
	"celador.io/celador/test/benchmark/engine"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// mutations is how many policies change the pod in S11.
	mutations = 100
	// schemaPatience is how long a plugin may take to know the schema of pods.
	schemaPatience = time.Minute
)

// mutators are the plugins in the order of figures.
var mutators = [2]func(*api.Server) (*engine.Engine, error){engine.UpstreamMutations, engine.CeladorMutations}

// allMutating is S11: what a request costs whose object every policy changes by an apply
// configuration.
func allMutating(s *session) error {
	s.progress("S11: %d policies with an apply configuration each", mutations)
	server, err := input.Mutations(mutations)
	if err != nil {
		return err
	}
	var calls []func() error
	var changed []apiruntime.Object
	for i := range mutators {
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
	runtime.GC()
	costs, err := measure.Alternate(s.effort, calls...)
	if err != nil {
		return err
	}
	s.Add(report.Row{
		Scenario: "S11", About: "100 apply configurations", Unit: report.Nanoseconds,
		Upstream: costs[0].Nanoseconds, Celador: costs[1].Nanoseconds,
		Target: report.Target{Times: 5},
		Note:   fmt.Sprintf("allocs: upstream %.0f, celador %.0f", costs[0].Allocations, costs[1].Allocations),
	})
	return nil
}

// mutate starts a plugin and returns what it makes of the pod, once it can: it asks for
// schemas on its own.
func mutate(plugin int, server *api.Server) (*subject, apiruntime.Object, error) {
	request, err := input.Create(input.Pod())
	if err != nil {
		return nil, nil, err
	}
	name := plugins[plugin].name
	started, err := mutators[plugin](server)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	ctx := context.Background()
	var object apiruntime.Object
	for deadline := time.Now().Add(schemaPatience); ; time.Sleep(10 * time.Millisecond) {
		object, err = request.Change(ctx, started)
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
			_, err := request.Change(ctx, started)
			return err
		},
		stop: started.Stop,
	}, object, nil
}

// leaves returns the scalars in an object with their paths, sorted: upstream looks at policies
// in random order, which shows in the order of lists.
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
