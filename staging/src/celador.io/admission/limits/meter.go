// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/interpreter"
)

// MeterName is the name under which activations resolve to the *Meter of their series. No variable of CEL can
// have it.
const MeterName = "#meter"

// Source resolves MeterName. Activations of both evaluators are sources.
type Source interface {
	ResolveName(name string) (any, bool)
}

// Meter counts what a series of evaluations makes and compares. The zero value is ready for use. Not safe for
// concurrent use.
type Meter struct {
	// Done ends all work when it is closed. It may be nil.
	Done        <-chan struct{}
	made, steps int
	// unseen is the work since the meter last looked at Done, in bytes.
	unseen int
	// kept is the part of made that variables keep.
	kept int
	// spent is the error of the limit that the series exceeded.
	spent error
}

// Mark is a state of a meter.
type Mark struct{ made, steps, kept int }

// Mark returns the state before an evaluation.
func (m *Meter) Mark() Mark { return Mark{m.made, m.steps, m.kept} }

// Keep makes everything since the mark that of a variable.
func (m *Meter) Keep(since Mark) { m.kept = since.kept + m.made - since.made }

// Repeat returns to the mark because the same is evaluated again. Variables are not.
func (m *Meter) Repeat(since Mark) {
	m.made, m.steps = since.made+m.kept-since.kept, since.steps
}

// Reset lets the meter count from zero.
func (m *Meter) Reset() { *m = Meter{Done: m.Done} }

// Err returns the error of the limit that the series exceeded, if it did: nothing else may be evaluated.
func (m *Meter) Err() error { return m.spent }

// Interrupted returns an interpreter.InterruptError after Done was closed, else nil.
func (m *Meter) Interrupted() error {
	select {
	case <-m.Done:
		return interpreter.InterruptError{}
	default:
		return nil
	}
}

// meterOf returns a new meter if there is none, as where cel-go evaluates constants.
func meterOf(from Source) *Meter {
	if found, ok := from.ResolveName(MeterName); ok {
		if m, ok := found.(*Meter); ok {
			return m
		}
	}
	return &Meter{}
}

func (m *Meter) make(bytes int) error {
	if m.made += bytes; m.made > MaxMade {
		m.spent = errMade()
		return m.spent
	}
	return m.look(bytes)
}

// look looks at Done after much work, as loops do after many rounds.
func (m *Meter) look(bytes int) error {
	if m.unseen += bytes; m.unseen < lookAfter {
		return nil
	}
	m.unseen = 0
	return m.Interrupted()
}

func (m *Meter) step(steps int) error {
	if steps > m.remaining() {
		return m.spend()
	}
	m.steps += steps
	return m.look(steps * bytesPerElement)
}

// spend ends the series because it would take more steps than there may be.
func (m *Meter) spend() error {
	m.spent = errSteps()
	return m.spent
}

func (m *Meter) remaining() int { return MaxSteps - m.steps }
