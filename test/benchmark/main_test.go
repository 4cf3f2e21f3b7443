// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/klog/v2"

	v1ext "celador.io/api/apiextensions/v1"

	"celador.io/celador/test/benchmark/input"
)

func TestMain(m *testing.M) {
	klog.SetLoggerWithOptions(logr.Discard(), klog.ContextualLogger(true))
	m.Run()
}

// Every comparison needs a request that both plugins admit and an object that both deny.
func TestSetups(t *testing.T) {
	held := func() setup { return setup{holding(20, 2), input.Deployment(input.Excessive)} }
	for name, build := range map[string]func() setup{
		"none match": func() setup { return noneMatching(3) },
		"all match":  func() setup { return allMatching(3) },
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
				t.Errorf("%s, %s: %v", name, plugin, err)
				continue
			}
			subject.stop()
		}
	}
}

// Both plugins must mutate the pod in the same way, and every policy must change it.
func TestMutating(t *testing.T) {
	const policies = 40
	server, err := input.Mutations(policies)
	if err != nil {
		t.Fatal(err)
	}
	var changed [][]string
	for i := range plugins {
		subject, object, err := mutate(i, server)
		if err != nil {
			t.Fatal(err)
		}
		defer subject.stop()
		changed = append(changed, leaves(object))
	}
	if diff := cmp.Diff(changed[0], changed[1]); diff != "" {
		t.Errorf("-upstream +celador:\n%s", diff)
	}
	text := strings.Join(changed[1], "\n")
	for i := range policies {
		own := regexp.MustCompile(fmt.Sprintf(`(?m)[-_./]%d($|\D)|=20%d$`, i, i))
		if !own.MatchString(text) {
			t.Errorf("policy %d has not changed the pod", i)
		}
	}
}

// Both sides must accept the same object and refuse another one, with rules of any number.
func TestValidationRules(t *testing.T) {
	routes := &routes{}
	for range 2 {
		versions, err := routes.next()
		if err != nil {
			t.Fatal(err)
		}
		for i, create := range newRules {
			if err := checkRules(create(versions[i])); err != nil {
				t.Errorf("%s: %v", plugins[i], err)
			}
		}
	}
}

// The readers of S14 convert with rules and without.
func TestReaders(t *testing.T) {
	for name, converters := range map[string][]v1ext.Converter{"None": nil, "rules": routeConverters()} {
		reader, err := routeReader(converters)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, objects := range []int{1, 3} {
			if err := reader.read(objects); err != nil {
				t.Errorf("%s, %d objects: %v", name, objects, err)
			}
		}
	}
}

// The resources of S14b create objects in all versions, with rules and without.
func TestWrittenRoutes(t *testing.T) {
	for name, converters := range map[string][]v1ext.Converter{"None": nil, "rules": writtenConverters()} {
		resource, err := writtenRoutes(converters)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(resource.Destroy)
		for _, version := range []string{"v1", "v2", "v3"} {
			if err := createRoute(resource, version); err != nil {
				t.Errorf("%s in %s: %v", name, version, err)
			}
		}
	}
}

// start detects a plugin that admits the object that policies would deny.
func TestStartWithoutPolicies(t *testing.T) {
	in := setup{denied: input.Deployment(input.Excessive)}
	server, err := in.Server()
	if err != nil {
		t.Fatal(err)
	}
	for i, plugin := range plugins {
		_, err := start(i, server, in)
		if err == nil || !strings.Contains(err.Error(), "to an object that violates the policies") {
			t.Errorf("%s: got error %v", plugin, err)
		}
	}
}

// startWebhooks detects a plugin that calls excluding webhooks, or does not call the others.
func TestExclude(t *testing.T) {
	endpoint, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.close()
	for name, test := range map[string]struct {
		condition func(int) v1.MatchCondition
		err       string
	}{
		"their own": {condition: input.ConditionOf},
		"the same":  {condition: input.SameCondition},
		"all":       {func(int) v1.MatchCondition { return v1.MatchCondition{Name: "all", Expression: "true"} }, "calls webhooks that exclude the request"},
		"none":      {func(int) v1.MatchCondition { return v1.MatchCondition{Name: "none", Expression: "false"} }, "where a webhook that cannot be reached has to be called"},
	} {
		for step := range steps {
			for i, plugin := range plugins {
				subject, err := startWebhooks(step, i, endpoint, test.condition)
				if err == nil {
					subject.stop()
				}
				if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s, %s %s: got error %v, want %q", name, plugin, steps[step].name, err, test.err)
				}
			}
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
	// Each policy has a variable, and three validations with two messages each.
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
		{want: []string{"S1", "S2", "S3", "S2c", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13", "S14", "S14b", "S15", "S16", "S17", "S18"}},
		{quick: true, want: []string{"S1", "S2", "S3", "S2c", "S4", "S5", "S6", "S10", "S11", "S12", "S13", "S14", "S14b"}},
		{only: "S3", want: []string{"S2", "S3"}},
		{only: "S9,S1", quick: true, want: []string{"S9", "S1"}},
		{only: "S", err: `there is no scenario "S", only S1 to S18`},
		{only: "S1,", err: `there is no scenario "", only S1 to S18`},
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
