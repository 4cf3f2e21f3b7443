// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"celador.io/offline/cluster"
	"celador.io/offline/playground"
)

// blocking are types whose feature gates wait for release.
type blocking struct {
	cluster.Backend
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
		answer, err := evaluator.Evaluate(t.Context(), &playground.PageState{})
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
			_, err := evaluator.Evaluate(ctx, &playground.PageState{})
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
	answer, err := evaluator.Evaluate(t.Context(), &playground.PageState{Panes: playground.Panes{Manifests: strings.Repeat("a: 1\n---\n", 2000)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, omitted := len(answer.Problems), answer.Omitted["problems"]; got != 500 || answer.Problems[0].Line != 1 || omitted != 1500 {
		t.Errorf("%d problems, of which the first is %+v, and %d more", got, answer.Problems[0], omitted)
	}
}

// TestOverdue evaluates an input that does not end with its time, and others meanwhile and
// afterwards.
func TestOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		types := blocking{entered: make(chan struct{}, 2), release: make(chan struct{})}
		evaluator := playground.NewEvaluator(types)
		evaluate := func() (string, error) {
			answer, err := evaluator.Evaluate(t.Context(), &playground.PageState{})
			if err != nil {
				return "", err
			}
			return answer.Problems[0].Message, nil
		}
		waited := make(chan error)
		go func() {
			time.Sleep(time.Second) // of the fake clock: the evaluation has begun
			_, err := evaluate()
			waited <- err
		}()
		if problem, err := evaluate(); err != nil || !strings.Contains(problem, "took longer than 10s") {
			t.Errorf("overdue: %q, %v", problem, err)
		}
		if _, err := evaluate(); !errors.Is(err, playground.ErrBusy) || !strings.Contains(err.Error(), "still runs") {
			t.Errorf("while it runs: %v", err)
		}
		if err := <-waited; !errors.Is(err, playground.ErrBusy) {
			t.Errorf("waiting: %v", err)
		}
		close(types.release)
		synctest.Wait()
		if problem, err := evaluate(); err != nil || problem != "no gates" {
			t.Errorf("afterwards: %q, %v", problem, err)
		}
	})
}

// slow are types whose feature gates take a time.
type slow struct {
	cluster.Backend
	time time.Duration
}

func (s slow) EnableFeatures(map[string]bool) (func(), error) {
	time.Sleep(s.time) // of the fake clock
	return nil, errors.New("no gates")
}

// TestTurns evaluates inputs at a time. The time for which an input waits does not count as the
// time of its own evaluation.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evaluator := playground.NewEvaluator(slow{time: 8 * time.Second})
		var results [3]string
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				answer, err := evaluator.Evaluate(t.Context(), &playground.PageState{})
				if results[i] = fmt.Sprint(err); err == nil {
					results[i] = answer.Problems[0].Message
				}
			})
		}
		group.Wait()
		if want := [3]string{"no gates", "no gates", "the server is busy: too many evaluations are waiting"}; results != want {
			t.Errorf("results %q, want %q", results, want)
		}
	})
}

// TestManyEntries evaluates maps and lists that are too long, also through aliases.
func TestManyEntries(t *testing.T) {
	evaluator := playground.NewEvaluator(blocking{})
	for name, test := range map[string]struct{ object, field string }{
		"map":  {"kind: ConfigMap\napiVersion: v1\ndata:\n  a: {" + strings.Repeat("%: 0, ", 10_001) + "}\n", "data.a"},
		"list": {"kind: ConfigMap\napiVersion: v1\ndata: [[" + strings.Repeat("0, ", 10_001) + "]]\n", "data[0]"},
	} {
		for i := range 10_001 {
			test.object = strings.Replace(test.object, "%", fmt.Sprint(i), 1)
		}
		answer, err := evaluator.Evaluate(t.Context(), &playground.PageState{Panes: playground.Panes{Object: test.object}})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Problems) != 1 || answer.Problems[0].Field != test.field || answer.Problems[0].Message != "has more than 10000 entries" {
			t.Errorf("%s: %+v", name, answer.Problems)
		}
	}
}
