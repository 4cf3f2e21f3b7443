// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/report"
)

// The numbers of policies, and of bindings of each, in scenario S7. The bindings of a policy select
// different namespaces.
const (
	heldPolicies = 1000
	heldBindings = 100
)

// heap runs scenario S7: the memory of policies and bindings. Each plugin is measured in a process
// of its own, so that the other one does not influence it.
func heap(s *session) error {
	held := map[string]float64{}
	for _, plugin := range plugins {
		s.progress("S7: %s with %d policies of %d bindings", plugin, heldPolicies, heldBindings)
		bytes, err := heapOf(plugin)
		if err != nil {
			return err
		}
		held[plugin] = bytes
	}
	cluster := holding(heldPolicies, 0)
	all, distinct := cluster.Expressions()
	s.Add(report.Row{
		Scenario: "S7", About: "1,000 policies x 100 bindings, heap", Unit: report.Bytes,
		Upstream: held["upstream"], Celador: held["celador"], Target: report.Target{Times: 8},
		Note: fmt.Sprintf("%d expressions, %d of them distinct", all, distinct),
	})
	return nil
}

// heapOf runs printHeap for a plugin in a child process, and returns the bytes.
func heapOf(plugin string) (bytes float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(self, "-heap", plugin)
	child.Stderr = os.Stderr
	output, err := child.Output()
	if err != nil {
		return 0, fmt.Errorf("heap of %s: %w", plugin, err)
	}
	return bytes, json.Unmarshal(output, &bytes)
}

// printHeap prints how much the heap grows when a plugin is started and answers a request. It is
// the memory of the objects in the plugin's informers, and of what the plugin derives from them.
func printHeap(name string) error {
	plugin := slices.Index(plugins[:], name)
	if plugin < 0 {
		return fmt.Errorf("there is no plugin %q", name)
	}
	in := setup{holding(heldPolicies, heldBindings), input.Deployment(input.Excessive)}
	server, err := in.Server()
	if err != nil {
		return err
	}
	in.Cluster = input.Cluster{}
	before := inUse()
	subject, err := start(plugin, server, in)
	if err != nil {
		return err
	}
	after := inUse()
	defer runtime.KeepAlive(server)
	// The plugin is still needed here, so it was not collected as garbage before the measurement.
	if err := subject.call(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(after - before)
}

// inUse returns the bytes of heap in use.
func inUse() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what finalizers and pools kept
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// holding returns policies. Each has one binding for each of several namespaces, the first of which
// is the namespace of the request.
func holding(policies, bindings int) input.Cluster {
	var cluster input.Cluster
	for i := range policies {
		policy := input.RealisticPolicy(i)
		cluster.Add(policy)
		for j := range bindings {
			namespace := fmt.Sprintf("tenant-%d", j)
			if j == 0 {
				namespace = input.NamespaceName
			}
			cluster.Bindings = append(cluster.Bindings, input.Binding(policy, j, corev1.LabelMetadataName, namespace))
		}
	}
	return cluster
}
