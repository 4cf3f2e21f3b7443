// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/evaluator"
)

// TestAllocations checks that ordinary expressions do not allocate once the views of the input are
// filled.
func TestAllocations(t *testing.T) {
	in := inputs()["typed"]
	for _, source := range []string{
		"object.spec.replicas <= 5", "object.spec.replicas == 3", "object.spec.replicas != oldObject.spec.replicas", "i == 42", "3 < object.spec.replicas",
		"object.metadata.name == 'shöp'", "object.metadata.labels.app", "object.metadata.labels['app'] != ''",
		"object.spec.template.spec.containers[0].name", "request.operation == 'CREATE'", "variables.number > 3",
		"has(object.spec.paused)", "has(object.metadata.labels) && 'app' in object.metadata.labels",
		"has(object.spec.paused) ? object.spec.paused : b", "!has(object.status) || b",
		"object.metadata.name.startsWith('sh')", "object.metadata.name in ['a', 'b', 'shöp']", "object.spec.replicas in [1, 2, 3]", "object.metadata.name.size() < 63",
		"object.spec.template.spec.containers.all(c, c.image != '')", "object.spec.template.spec.containers.exists(c, c.name == 'log')",
		"object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort > 80 && has(p.protocol)))",
	} {
		p := mustCompile(t, source)
		if !check(t, p, in) {
			t.Errorf("%s has no value", source)
		}
		done, memory := t.Context().Done(), &evaluator.Stack{}
		if n := testing.AllocsPerRun(100, func() { p.planned.Evaluate(memory, done, celconfig.PerCallLimit, in) }); n != 0 {
			t.Errorf("%s allocates %v times", source, n)
		}
	}
}
