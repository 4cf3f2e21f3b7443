// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/report"
)

// What S7 keeps in memory: each policy is bound in each of many namespaces.
const (
	heldPolicies = 1000
	heldBindings = 100
)

// heap is S7: the memory of policies and bindings. Each plugin has a process of its own.
func heap(s *session) error {
	held := map[string]float64{}
	for i, plugin := range plugins {
		s.progress("S7: %s with %d policies of %d bindings", plugin.name, heldPolicies, heldBindings)
		bytes, err := heapOf(i)
		if err != nil {
			return err
		}
		held[plugin.name] = bytes
	}
	cluster := holding(heldPolicies, 0)
	all, distinct := cluster.Expressions()
	s.Add(report.Row{
		Scenario: "S7", About: "1,000 policies x 100 bindings, heap", Unit: report.Bytes,
		Upstream: held["upstream"], Celador: held["celador"], Target: report.Target{Times: 3},
		Note: fmt.Sprintf("%d expressions, %d of them distinct", all, distinct),
	})
	return nil
}

// heapOf has a process of its own measure a plugin.
func heapOf(plugin int) (bytes float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(self, "-heap", plugins[plugin].name)
	child.Stderr = os.Stderr
	output, err := child.Output()
	if err != nil {
		return 0, fmt.Errorf("heap of %s: %w", plugins[plugin].name, err)
	}
	return bytes, json.Unmarshal(output, &bytes)
}

// printHeap prints how many bytes of the heap are in use for a plugin that has answered
// a request: the objects in its informers, and all that it makes of them.
func printHeap(name string) error {
	for i, plugin := range plugins {
		if plugin.name != name {
			continue
		}
		in := situation{holding(heldPolicies, heldBindings), input.Deployment(input.Excessive)}
		server, err := in.Server()
		if err != nil {
			return err
		}
		in.Cluster = input.Cluster{}
		before := inUse()
		subject, err := start(i, server, in)
		if err != nil {
			return err
		}
		after := inUse()
		defer runtime.KeepAlive(server)
		// This also keeps the plugin alive until here.
		if err := subject.call(); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(after - before)
	}
	return fmt.Errorf("there is no plugin %q", name)
}

// inUse returns how many bytes of the heap are in use.
func inUse() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what finalizers and pools kept
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// holding returns policies with a binding for each of some namespaces, one of which is
// the requests'.
func holding(policies, bindings int) input.Cluster {
	var cluster input.Cluster
	for i := range policies {
		policy := input.Realistic(i)
		cluster.Add(policy)
		for j := range bindings {
			namespace := fmt.Sprintf("tenant-%d", j)
			if j == 0 {
				namespace = input.SpaceName
			}
			cluster.Bindings = append(cluster.Bindings, input.Binding(policy, j, corev1.LabelMetadataName, namespace))
		}
	}
	return cluster
}
