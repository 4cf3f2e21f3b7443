// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"celador.io/offline/cluster"
	"celador.io/offline/playground"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// TestPlayground evaluates all examples of the playground.
func TestPlayground(t *testing.T) {
	examples, err := playground.Examples(Files)
	if err != nil {
		t.Fatal(err)
	}
	if len(examples) < 10 || examples[0].Name != "replica-limit" || examples[0].Title != "Allows at most five replicas in a Deployment" {
		t.Fatalf("%d examples, the first is %+v", len(examples), examples[0])
	}
	evaluator := playground.NewEvaluator(offlinebackend.KubeAPIServer)
	for _, example := range examples {
		answer, err := evaluator.Evaluate(t.Context(), &example.PageState)
		if err != nil || len(answer.Problems) > 0 {
			t.Errorf("%s: %v, problems %v", example.Name, err, answer.Problems)
			continue
		}
		if answer.Decision != suite.Denied && answer.Diff == "" {
			t.Errorf("%s: decision %s, and policies change nothing", example.Name, answer.Decision)
		}
		for _, e := range answer.Expressions {
			pane := "policy"
			if e.Kind == cluster.CRDKind {
				pane = "manifests"
			}
			if e.Pane != pane || e.Line == 0 {
				t.Errorf("%s: %s is at %s:%d", example.Name, e.Field, e.Pane, e.Line)
			}
		}
	}
}
