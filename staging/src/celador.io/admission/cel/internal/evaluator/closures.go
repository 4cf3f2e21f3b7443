// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"runtime/debug"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Closures evaluate an expression without cel-go. The zero Closures decline every evaluation, which
// is then left to cel-go. Closures are safe for concurrent use.
type Closures struct {
	eval  closure
	slots int
	// plans holds the shared closures of subexpressions that eval calls. The library refers to them
	// weakly, so they stay in memory, for other expressions to use, as long as these Closures do.
	plans []*sharedPlan
}

// A NameResolver resolves the names that an expression reads. Evaluate calls it from one goroutine.
type NameResolver interface {
	interpreter.Activation
	// Variable returns the value of the policy's variable at a position of Scope.Positions. The
	// first read evaluates the variable.
	Variable(i int) ref.Val
}

// A Stack holds the state of evaluations while they run, and is reused by later ones. Evaluations
// end in the reverse order of their beginning: a program that reads a variable waits for the
// evaluation of the variable's program. The zero value is ready for use. Not safe for concurrent
// use.
type Stack struct {
	// frames holds the states of the outermost evaluations, which then allocate none. depth counts
	// the evaluations that have not ended.
	frames [4]frame
	depth  int
	// stack holds the slots of the evaluations that have not ended, in its first used elements.
	stack []ref.Val
	used  int
	// panicked is the panic of the last evaluation, until somebody has read it.
	panicked *Panic
}

// A Panic is a panic that made an evaluation decline.
type Panic struct {
	Cause any
	Stack []byte
}

// Panicked returns the panic of the evaluation that ended last, and forgets it. It returns nil if
// there was none.
func (m *Stack) Panicked() *Panic {
	last := m.panicked
	m.panicked = nil
	return last
}

// begin begins an evaluation. The caller passes the frame to end.
func (m *Stack) begin(slots int) *frame {
	if free := len(m.stack) - m.used; free < slots {
		// Evaluations that have begun before keep their slots in the old stack.
		m.stack = make([]ref.Val, 2*m.used+slots)
	}
	var f *frame
	if m.depth < len(m.frames) {
		f = &m.frames[m.depth]
	} else {
		f = &frame{}
	}
	f.slots = m.stack[m.used : m.used+slots]
	m.used += slots
	m.depth++
	return f
}

func (m *Stack) end(f *frame) {
	m.depth--
	m.used -= len(f.slots)
	clear(f.slots)
	*f = frame{}
}

// Evaluate returns the value of the expression and its CEL cost. It returns false if it declines,
// and the caller must evaluate the expression with cel-go; cost is then what the evaluation has
// cost so far, which is at least what cel-go charges up to there. An evaluation that costs more
// than limit declines. Closing done interrupts loops; done may be nil. An evaluation that panics
// declines with a cost of 0, and the caller reads the panic with memory.Panicked.
func (p *Closures) Evaluate(memory *Stack, done <-chan struct{}, limit uint64, input NameResolver) (value ref.Val, cost uint64, ok bool) {
	if p.eval == nil {
		return nil, 0, false
	}
	f := memory.begin(p.slots)
	defer func() {
		if cause := recover(); cause != nil {
			memory.panicked = &Panic{cause, debug.Stack()}
			value, cost, ok = nil, 0, false
		}
		memory.end(f)
	}()
	f.input, f.done, f.limit = input, done, limit
	value, cost = p.eval(f), f.cost
	if value == nil || cost > limit {
		return nil, cost, false
	}
	return value, cost, true
}

// Planned returns the number of planned expressions: 1, or 0 for the zero Closures.
func (p *Closures) Planned() int {
	if p.eval == nil {
		return 0
	}
	return 1
}

// A closure evaluates a subexpression and adds its cost to the frame. It returns nil to decline.
type closure func(*frame) ref.Val

// frame is the state of one evaluation.
type frame struct {
	input NameResolver
	cost  uint64
	// limit is the highest cost of the evaluation.
	limit uint64
	// slots holds the values of comprehension variables.
	slots []ref.Val
	done  <-chan struct{}
	// iterations counts the iterations of all loops.
	iterations int
}

// ResolveName implements limits.MeterResolver: functions find the meter of the series with it.
// While constants are folded there is no input, and functions count in a meter of their own.
func (f *frame) ResolveName(name string) (any, bool) {
	if f.input == nil {
		return nil, false
	}
	return f.input.ResolveName(name)
}

// nextIteration reports whether a loop may continue. It returns false if the expression has
// exceeded its cost limit, or if done is closed.
func (f *frame) nextIteration() bool {
	f.iterations++
	if f.iterations%celconfig.CheckFrequency == 0 {
		select {
		case <-f.done:
			return false
		default:
		}
	}
	return !f.exhausted()
}

// exhausted reports whether the expression has exceeded the cost limit of a single expression. At
// every point of an evaluation, the cost is at least as high as cel-go's.
func (f *frame) exhausted() bool { return f.cost > f.limit }

// plain returns v, or nil to decline if v is an error or an unknown.
func plain(v ref.Val) ref.Val {
	switch v.(type) {
	case *types.Err, *types.Unknown:
		return nil
	default:
		return v
	}
}
