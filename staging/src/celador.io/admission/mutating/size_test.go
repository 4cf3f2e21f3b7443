// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"fmt"
	"strings"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
)

// A mutation that would make the object too large fails. The mutations before it are applied.
func TestObjectSize(t *testing.T) {
	const (
		entry = 5 << 20
		times = 3
	)
	const message = "mutation makes the object larger than 16 MiB of JSON, which is far more than storage takes: let it write less, or add a match condition that is false once the mutation has been made"
	// All copies together would take 2^40 times the entry.
	copies := make([]string, 40)
	for i := range copies {
		copies[i] = fmt.Sprintf(`JSONPatch{op: "copy", from: "/data", path: "/data/c%d"}`, i)
	}
	for name, test := range map[string]struct {
		mutations []v1.Mutation
		// applied is the number of mutations that are applied before one fails.
		applied int
	}{
		"JSON patches": {repeated(times, func(key string) v1.Mutation { return policytest.SetData(key, "object.data.a") }), 2},
		"expressions": {repeated(times, func(key string) v1.Mutation {
			return inline(`JSONPatch{op: "add", path: "/data/` + key + `", value: object.data.a}`)
		}), 2},
		"merge patches":           {repeated(times, func(key string) v1.Mutation { return jsonMerge(`{"data": {"` + key + `": object.data.a}}`) }), 2},
		"strategic merge patches": {repeated(times, func(key string) v1.Mutation { return strategic(`{"data": {"` + key + `": object.data.a}}`) }), 2},
		"apply configurations": {repeated(4, func(key string) v1.Mutation {
			return policytest.ApplyConfiguration(`Object{data: {"` + key + `": object.data.a}}`)
		}), 3},
		"one JSON patch of large values": {[]v1.Mutation{policytest.JSONPatch(`lists.range(3).map(i, JSONPatch{op: "add", path: "/data/k" + string(i), value: object.data.a})`)}, 0},
		"one JSON patch of copies":       {[]v1.Mutation{policytest.JSONPatch("[" + strings.Join(copies, ", ") + "]")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(on, configMap("a", strings.Repeat("x", entry)), ignoring(policytest.Mutating("p", test.mutations...)))
			result, err := s.mutate(t)
			if err != nil || len(result.Failures) == 0 {
				t.Fatalf("got %v, %d failures", err, len(result.Failures))
			}
			for i, f := range result.Failures {
				if !f.Ignored || f.Message != message {
					t.Errorf("failure %d is %v, want %s", i, f, message)
				}
			}
			applied := 0
			for ; applied < len(result.Mutations) && result.Mutations[applied].Err == nil; applied++ {
			}
			if applied != test.applied {
				t.Errorf("%d mutations were applied, want %d", applied, test.applied)
			}
		})
	}
}

// Overwriting the same field any number of times does not exceed the limit.
func TestSizeOfReplacedValues(t *testing.T) {
	s := create(on, configMap("a", strings.Repeat("x", 1<<20)), policytest.Mutating("p", repeated(40, func(key string) v1.Mutation {
		return policytest.ApplyConfiguration(`Object{data: {"b": object.data.a + "` + key + `"}}`)
	})...))
	result, err := s.mutate(t)
	if err != nil || len(result.Failures) > 0 {
		t.Fatalf("got %v, failures %v", err, result.Failures)
	}
	if got := s.data()["b"]; !strings.HasSuffix(got, "k39") {
		t.Errorf("the last mutation was not applied: %d bytes", len(got))
	}
}
