// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"celador.io/offline/cluster"
	"celador.io/offline/suite"
)

// maxTime is the time that an evaluation may take. The cost limits of CEL bound each policy, but not the number of policies.
const maxTime = 10 * time.Second

// maxWaiting is the number of inputs that may wait while another one is evaluated.
const maxWaiting = 8

// ErrBusy is the error of an input for which there is no place in the queue.
var ErrBusy = errors.New("too many evaluations are waiting: try again later")

// An Evaluator evaluates inputs, one at a time, because feature gates apply to the process. It is safe for concurrent use.
type Evaluator struct {
	types cluster.Types
	// queue has an element for each input that waits or is evaluated, and turn one for the input that is evaluated.
	queue, turn chan struct{}
	// base and gates are those of the latest evaluation. The goroutine that put an element into turn reads and writes them.
	base  *cluster.Base
	gates map[string]bool
}

// NewEvaluator returns an evaluator for clusters with the given types.
func NewEvaluator(types cluster.Types) *Evaluator {
	return &Evaluator{types: types, queue: make(chan struct{}, 1+maxWaiting), turn: make(chan struct{}, 1)}
}

// Evaluate answers the request of an input. An input that is not usable has an answer with Problems. The error is ErrBusy or the one of ctx.
func (e *Evaluator) Evaluate(ctx context.Context, input *Input) (*Answer, error) {
	select {
	case e.queue <- struct{}{}:
		defer func() { <-e.queue }()
	default:
		return nil, ErrBusy
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	found, err := e.explain(limited, input)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limited.Err() != nil {
		return &Answer{Problems: []Problem{{Message: fmt.Sprintf("the evaluation took longer than %s: evaluate fewer or cheaper expressions", maxTime)}}}, nil
	}
	return newAnswer(found, err), nil
}

// explain returns the answer to the request of an input.
func (e *Evaluator) explain(ctx context.Context, input *Input) (*suite.Answer, error) {
	test, err := input.Panes.test()
	if err != nil {
		return nil, err
	}
	restore, err := e.types.EnableFeatures(input.FeatureGates)
	if err != nil {
		return nil, &gateError{err}
	}
	defer restore()
	if e.base == nil || !maps.Equal(e.gates, input.FeatureGates) {
		e.base, e.gates = cluster.NewBase(e.types), input.FeatureGates
	}
	return suite.Explain(ctx, e.base, test)
}

// gateError is the error of feature gates.
type gateError struct{ error }
