// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"strings"
	"testing"
)

// Characters beyond ASCII are expensive to parse. An expression is parsed once, with or without
// type errors, and however many types there are.
func TestCostOfText(t *testing.T) {
	c := checker(t, mapperFor(deployment, replicaSet, pod, configMap, secret), builtIn)
	allocations := func(expression string, kinds ...string) float64 {
		p := policy(expression+" != '"+strings.Repeat("é", 2000)+"'", rule("", "v1", kinds...), params("v1", "ConfigMap"))
		if got := len(c.CheckValidating(p).Types); got != len(kinds) {
			t.Fatalf("checked %d types, want %d", got, len(kinds))
		}
		return testing.AllocsPerRun(3, func() { c.CheckValidating(p) })
	}
	one := allocations("object.metadata.name", "pods")
	for name, more := range map[string]float64{
		"types":          allocations("object.metadata.name", "configmaps", "pods", "secrets"),
		"does not fit":   allocations("object.metadata.names", "pods"),
		"types, neither": allocations("object.metadata.names", "configmaps", "pods", "secrets"),
	} {
		if more > 1.5*one {
			t.Errorf("%s: %v allocations, one type that fits takes %v", name, more, one)
		}
	}
}

// cel-go panics if an optional entry of a list or map has the type dyn.
func TestOptionalEntries(t *testing.T) {
	for _, source := range []string{"[?dyn(1)].size() == 1", "{?'a': object.spec.strategy.rollingUpdate.maxSurge}.size() == 1"} {
		findings := checker(t, mapperFor(deployment), builtIn).CheckValidating(policy(source)).Findings
		if len(findings) != 1 || !strings.Contains(findings[0].Message, "must be an optional, but its type is dyn") {
			t.Errorf("%s: found %v", source, findings)
		}
	}
}
