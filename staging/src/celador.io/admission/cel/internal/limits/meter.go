// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// MeterName is the name that activations resolve to the *Meter of their series. It is not a
// valid CEL identifier, so no variable can have it.
const MeterName = "#meter"

// A MeterResolver resolves MeterName to the *Meter of a series. The activations of closures and
// those of cel-go are resolvers.
type MeterResolver interface {
	ResolveName(name string) (any, bool)
}

// A Meter counts the memory and the comparisons of a series of evaluations. The series ends when it
// exceeds a limit. The zero value is ready for use. A Meter is not safe for concurrent use.
type Meter struct {
	// Done interrupts evaluations when it is closed. It may be nil.
	Done <-chan struct{}
	// CostLimit is the highest cost of one evaluation. 0 means celconfig.PerCallLimit.
	CostLimit        uint64
	allocated, steps int
	// unchecked is the work, in bytes, since the meter last checked Done.
	unchecked int
	// keptBytes and keptSteps are the parts of allocated and steps that belong to variables, whose
	// values are kept after the evaluation.
	keptBytes, keptSteps int
	// err is the error of the limit that the series exceeded.
	err error
}

// A Mark is the state of a meter at the start of an evaluation.
type Mark struct{ allocated, steps, keptBytes, keptSteps int }

// Mark returns the current state, for Keep or Repeat.
func (m *Meter) Mark() Mark { return Mark{m.allocated, m.steps, m.keptBytes, m.keptSteps} }

// Keep attributes all memory and all steps since the mark to a variable, whose value outlives
// the evaluation.
func (m *Meter) Keep(since Mark) {
	m.keptBytes = since.keptBytes + m.allocated - since.allocated
	m.keptSteps = since.keptSteps + m.steps - since.steps
}

// Repeat resets the counts to the mark, except for the counts of variables. It is called before
// cel-go repeats an evaluation that the evaluator has declined, so that its memory and comparisons
// count once. Variables keep their values, and so their counts.
func (m *Meter) Repeat(since Mark) {
	m.allocated = since.allocated + m.keptBytes - since.keptBytes
	m.steps = since.steps + m.keptSteps - since.keptSteps
}

// MaxCost returns the highest cost of one evaluation.
func (m *Meter) MaxCost() uint64 {
	if m.CostLimit > 0 {
		return m.CostLimit
	}
	return celconfig.PerCallLimit
}

// Err returns the error of the limit that the series exceeded, or nil. After an error, no other
// expression of the series may be evaluated.
func (m *Meter) Err() error { return m.err }

// Interrupted returns an interpreter.InterruptError if Done is closed, and nil otherwise.
func (m *Meter) Interrupted() error {
	select {
	case <-m.Done:
		return interpreter.InterruptError{}
	default:
		return nil
	}
}

// meterOf returns the meter of a series. It returns a new meter outside of a series, such as
// when cel-go folds constants.
func meterOf(from MeterResolver) *Meter {
	if m, ok := MeterOf(from); ok {
		return m
	}
	return &Meter{}
}

// MeterOf returns the meter of a series. It returns false outside of a series.
func MeterOf(from MeterResolver) (*Meter, bool) {
	found, _ := from.ResolveName(MeterName)
	m, ok := found.(*Meter)
	return m, ok
}

func (m *Meter) allocate(bytes int) error {
	if m.allocated += bytes; m.allocated > MaxAllocated {
		m.err = errAllocated()
		return m.err
	}
	return m.checkDone(bytes)
}

// checkDone checks Done once every checkDoneAfter bytes of work.
func (m *Meter) checkDone(bytes int) error {
	if m.unchecked += bytes; m.unchecked < checkDoneAfter {
		return nil
	}
	m.unchecked = 0
	return m.Interrupted()
}

func (m *Meter) step(steps int) error {
	if steps > m.remaining() {
		return m.exceedSteps()
	}
	m.steps += steps
	return m.checkDone(steps * bytesPerElement)
}

// charge counts the steps of a comparison. Each measure returns an upper bound of the steps, or
// false if its bound exceeds limit, the steps that the series has left. charge calls the measures
// in order, and counts the first bound that it gets. If it gets none, the series has exceeded
// MaxSteps and ends.
func (m *Meter) charge(measures ...func(limit int) (steps int, ok bool)) error {
	if m.err != nil {
		return m.err
	}
	for _, measure := range measures {
		if steps, ok := measure(m.remaining()); ok {
			return m.step(steps)
		}
	}
	return m.exceedSteps()
}

func (m *Meter) exceedSteps() error {
	m.err = errSteps()
	return m.err
}

func (m *Meter) remaining() int { return MaxSteps - m.steps }
