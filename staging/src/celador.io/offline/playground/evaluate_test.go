// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"celador.io/offline/cluster"
	"celador.io/offline/playground"
)

// blocking are types whose feature gates wait for release.
type blocking struct {
	cluster.Types
	entered, release chan struct{}
}

func (b blocking) EnableFeatures(map[string]bool) (func(), error) {
	b.entered <- struct{}{}
	<-b.release
	return nil, errors.New("no gates")
}

// TestQueue evaluates more inputs at a time than may wait.
func TestQueue(t *testing.T) {
	types := blocking{entered: make(chan struct{}), release: make(chan struct{})}
	evaluator := playground.NewEvaluator(types)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan *playground.Answer, 1)
	go func() {
		answer, err := evaluator.Evaluate(t.Context(), &playground.Input{})
		if err != nil {
			t.Error(err)
		}
		first <- answer
	}()
	<-types.entered
	errs := make(chan error)
	const more = 20
	for range more {
		go func() {
			_, err := evaluator.Evaluate(ctx, &playground.Input{})
			errs <- err
		}()
	}
	waiting := more
	for err := range errs {
		if !errors.Is(err, playground.ErrBusy) {
			t.Fatal(err)
		}
		if waiting--; waiting == 8 {
			break
		}
	}
	cancel()
	for range waiting {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	close(types.release)
	if answer := <-first; len(answer.Problems) != 1 || answer.Problems[0].Pane != "featureGates" || answer.Problems[0].Message != "no gates" {
		t.Errorf("answer %+v", answer)
	}
}

// TestManyProblems evaluates more unusable documents than a page can show.
func TestManyProblems(t *testing.T) {
	evaluator := playground.NewEvaluator(blocking{})
	answer, err := evaluator.Evaluate(t.Context(), &playground.Input{Panes: playground.Panes{Manifests: strings.Repeat("a: 1\n---\n", 2000)}})
	if err != nil {
		t.Fatal(err)
	}
	last := len(answer.Problems) - 1
	if last != 500 || answer.Problems[0].Line != 1 || !strings.Contains(answer.Problems[last].Message, " more problems") {
		t.Errorf("%d problems, from %+v to %+v", last+1, answer.Problems[0], answer.Problems[last])
	}
}
