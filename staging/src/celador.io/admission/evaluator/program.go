// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Program is a planned expression. It is safe for concurrent use.
type Program struct {
	eval  step
	slots int
	// parts stay available to other programs as long as this one is in use.
	parts []*part
}

// Input resolves what an expression reads.
type Input interface {
	interpreter.Activation
	// Variable returns the value of a variable of the policy, by its position.
	Variable(i int) ref.Val
}

// Evaluate returns the value of the expression and its CEL cost, or false to decline. The
// zero Program declines everything. A loop ends soon after done is closed.
func (p *Program) Evaluate(done <-chan struct{}, input Input) (value ref.Val, cost uint64, ok bool) {
	if p.eval == nil {
		return nil, 0, false
	}
	defer func() {
		// cel-go makes an error of it.
		if recover() != nil {
			value, cost, ok = nil, 0, false
		}
	}()
	f := frames.Get().(*frame)
	f.input, f.done, f.cost, f.rounds = input, done, 0, 0
	if cap(f.slots) < p.slots {
		f.slots = make([]ref.Val, p.slots)
	}
	f.slots = f.slots[:p.slots]
	value, cost = p.eval(f), f.cost
	clear(f.slots)
	f.input, f.done = nil, nil
	frames.Put(f)
	if value == nil || cost > celconfig.PerCallLimit {
		return nil, 0, false
	}
	return value, cost, true
}

// Planned returns 0 for the zero Program, which declines everything, else 1.
func (p *Program) Planned() int {
	if p.eval == nil {
		return 0
	}
	return 1
}

// step evaluates a part of an expression and adds what it costs. It returns nil to
// decline.
type step func(*frame) ref.Val

// frame is the state of one evaluation.
type frame struct {
	input Input
	cost  uint64
	// slots are the variables of comprehensions.
	slots []ref.Val
	done  <-chan struct{}
	// rounds is how many rounds all loops made.
	rounds int
}

var frames = sync.Pool{New: func() any { return &frame{} }}

// ResolveName implements limits.Source. A frame for constants has no input.
func (f *frame) ResolveName(name string) (any, bool) {
	if f.input == nil {
		return nil, false
	}
	return f.input.ResolveName(name)
}

// nextRound is false when a loop has to end: it is too expensive or nobody waits for
// the result.
func (f *frame) nextRound() bool {
	f.rounds++
	if f.rounds%celconfig.CheckFrequency == 0 {
		select {
		case <-f.done:
			return false
		default:
		}
	}
	return !f.exhausted()
}

// exhausted reports whether the expression has exceeded the cost limit of a single expression.
// At every point of an evaluation, the cost is at least the cost in cel-go's evaluation at that
// point.
func (f *frame) exhausted() bool { return f.cost > celconfig.PerCallLimit }

// plain declines values that are not data.
func plain(v ref.Val) ref.Val {
	switch v.(type) {
	case *types.Err, *types.Unknown, *types.Optional:
		return nil
	default:
		return v
	}
}
