// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"

	"celador.io/celador/test/benchmark/input"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}

// Both plugins have to admit and to deny in every situation, or there is nothing to
// compare.
func TestSituations(t *testing.T) {
	held := func() situation { return situation{holding(20, 2), input.Deployment(input.Excessive)} }
	for name, build := range map[string]func() situation{
		"none match": func() situation { return noneMatching(3) },
		"all match":  func() situation { return allMatching(3) },
		"bindings":   manyBound,
		"params":     manyConfigured,
		"namespaces": manySelecting,
		"heap":       held,
	} {
		in := build()
		server, err := in.Server()
		if err != nil {
			t.Fatal(err)
		}
		for i, plugin := range plugins {
			subject, err := start(i, server, in)
			if err != nil {
				t.Errorf("%s, %s: %v", name, plugin.name, err)
				continue
			}
			subject.stop()
		}
	}
}

// A plugin without policies admits what they would deny, and that is noticed.
func TestStartWithoutPolicies(t *testing.T) {
	in := situation{denied: input.Deployment(input.Excessive)}
	server, err := in.Server()
	if err != nil {
		t.Fatal(err)
	}
	for i, plugin := range plugins {
		_, err := start(i, server, in)
		if err == nil || !strings.Contains(err.Error(), "to an object that violates the policies") {
			t.Errorf("%s: got error %v", plugin.name, err)
		}
	}
}

func TestHolding(t *testing.T) {
	cluster := holding(100, 3)
	if len(cluster.Policies) != 100 || len(cluster.Bindings) != 300 {
		t.Errorf("%d policies, %d bindings", len(cluster.Policies), len(cluster.Bindings))
	}
	names := map[string]bool{}
	for _, binding := range cluster.Bindings {
		names[binding.Name] = true
	}
	if len(names) != 300 {
		t.Errorf("only %d names of 300 bindings", len(names))
	}
	// A variable, three validations and two messages each.
	all, distinct := cluster.Expressions()
	if all != 600 || distinct < 50 || distinct > 200 {
		t.Errorf("%d expressions, %d of them distinct", all, distinct)
	}
}

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		only  string
		quick bool
		want  []string
		err   string
	}{
		{want: []string{"S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9"}},
		{quick: true, want: []string{"S1", "S2", "S3", "S4", "S5", "S6"}},
		{only: "S3", want: []string{"S2", "S3"}},
		{only: "S9,S1", quick: true, want: []string{"S9", "S1"}},
		{only: "S", err: `there is no scenario "S", only S1 to S9`},
		{only: "S1,", err: `there is no scenario "", only S1 to S9`},
	} {
		chosen, err := choose(test.only, test.quick)
		var got []string
		for _, scenario := range chosen {
			got = append(got, scenario.ids...)
		}
		message := ""
		if err != nil {
			message = err.Error()
		}
		if message != test.err {
			t.Errorf("%q: got error %q, want %q", test.only, message, test.err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.only, diff)
		}
	}
}

func TestRunErrors(t *testing.T) {
	s := &session{output: t.TempDir()}
	if err := s.run("S0"); err == nil {
		t.Error("there is no S0")
	}
	if err := printHeap("none"); err == nil {
		t.Error("there is no such plugin")
	}
}
