// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync/atomic"
	"time"

	"celador.io/offline/cluster"
	"celador.io/offline/suite"
)

// maxTime is the time that an evaluation may take, and the time that an input may wait for others.
// The cost limits of CEL bound each policy, but not the number of policies.
const maxTime = 10 * time.Second

// maxWaiting is the number of inputs that may wait while another one is evaluated.
const maxWaiting = 8

// ErrBusy is the error of an input that cannot be evaluated now.
var ErrBusy = errors.New("the server is busy")

var (
	errQueue   = fmt.Errorf("%w: too many evaluations are waiting", ErrBusy)
	errOverdue = fmt.Errorf("%w: an earlier evaluation takes longer than %s, cannot be stopped and still runs", ErrBusy, maxTime)
)

// An Evaluator evaluates inputs, one at a time, because feature gates apply to the process. It is
// safe for concurrent use.
type Evaluator struct {
	backend cluster.Backend
	// queue and turn are semaphores. turn lets one evaluation run at a time. queue limits the
	// number of evaluations that run or wait.
	queue, turn chan struct{}
	// overdue is set while an evaluation continues after maxTime, because Kubernetes' code cannot
	// be interrupted. Other evaluations are refused meanwhile.
	overdue atomic.Bool
	// base holds the API groups that the cluster of the last evaluation used, and gates are its
	// feature gates. The next evaluation uses base again if its gates are equal. Only the goroutine
	// that holds turn accesses them.
	base  *cluster.Base
	gates map[string]bool
}

// NewEvaluator returns an evaluator for clusters with the given backend.
func NewEvaluator(backend cluster.Backend) *Evaluator {
	return &Evaluator{backend: backend, queue: make(chan struct{}, 1+maxWaiting), turn: make(chan struct{}, 1)}
}

// Evaluate answers the request of an input. If the input is not usable, the answer has Problems.
// The error wraps ErrBusy or is that of ctx.
//
// When the time of an evaluation is over, or ctx is done, the evaluation ends with its next
// expression. Kubernetes' own code cannot be ended earlier, and until it ends, no other evaluation
// starts.
func (e *Evaluator) Evaluate(ctx context.Context, input *PageState) (*Answer, error) {
	if e.overdue.Load() {
		return nil, errOverdue
	}
	select {
	case e.queue <- struct{}{}:
		defer func() { <-e.queue }()
	default:
		return nil, errQueue
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(maxTime):
		if e.overdue.Load() {
			return nil, errOverdue
		}
		return nil, errQueue
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	ended := make(chan evaluationEnd, 1)
	go func() {
		var o evaluationEnd
		defer func() {
			if reason := recover(); reason != nil {
				o.panicked = fmt.Sprintf("%v\n%s", reason, debug.Stack())
			}
			ended <- o
			e.overdue.Store(false)
			<-e.turn
		}()
		found, err := e.explain(limited, input)
		o.answer = newAnswer(found, err)
	}()
	var o evaluationEnd
	select {
	case o = <-ended:
	case <-limited.Done():
		e.overdue.Store(ctx.Err() == nil)
		if len(ended) > 0 {
			e.overdue.Store(false)
		}
	}
	switch {
	case o.panicked != "":
		panic(o.panicked)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return &Answer{Problems: []Problem{{Message: fmt.Sprintf("the evaluation took longer than %s: evaluate fewer or cheaper expressions, or smaller objects", maxTime)}}}, nil
	}
	return o.answer, nil
}

// An evaluationEnd is what an evaluation returned.
type evaluationEnd struct {
	answer *Answer
	// panicked is the reason of a panic with its stack, or empty.
	panicked string
}

// explain returns the answer to the request of an input.
func (e *Evaluator) explain(ctx context.Context, input *PageState) (*suite.ExplainedResponse, error) {
	test, err := input.Panes.test()
	if err != nil {
		return nil, err
	}
	restore, err := e.backend.EnableFeatures(input.FeatureGates)
	if err != nil {
		return nil, &gateError{err}
	}
	defer restore()
	if e.base == nil || !maps.Equal(e.gates, input.FeatureGates) {
		e.base, e.gates = cluster.NewBase(e.backend), input.FeatureGates
	}
	return suite.Explain(ctx, e.base, test)
}

// gateError is an error that concerns the feature gates of an input.
type gateError struct{ error }
