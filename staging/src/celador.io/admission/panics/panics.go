// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package panics counts and logs the panics that Celador recovers. A recovered panic fails one
// expression, one object or one policy instead of the process, so without a trace nobody would find
// its cause.
package panics

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/google/cel-go/interpreter"
	"k8s.io/klog/v2"
)

// A Component is a part of Celador that recovers panics. It is a label of a metric.
type Component int

const (
	// Evaluator is Celador's evaluator. Its panics count only if cel-go then evaluates the
	// expression without a panic; otherwise the panic counts for Interpreter.
	Evaluator Component = iota
	// Interpreter is cel-go, which turns panics of functions into errors of the expression.
	Interpreter
	// Compiler parses, checks and plans expressions.
	Compiler
	// Patch merges the patches of mutating policies.
	Patch
	// Conversion converts custom resources.
	Conversion
	// Schema reads the schemas of served types.
	Schema
	// Status checks policies for their status.
	Status
	// Webhook calls webhooks.
	Webhook
	components
)

// String returns the value of the label.
func (c Component) String() string {
	return [components]string{"evaluator", "interpreter", "compiler", "patch", "conversion", "schema", "status", "webhook"}[c]
}

// interval is the shortest time between two log lines of a component.
const interval = 10 * time.Second

// records counts the panics of each component, and limits how often it logs them.
var records [components]struct {
	recovered atomic.Uint64
	// next is the time in nanoseconds from which the component may log again, and notLogged the
	// number of panics that it has not logged since.
	next      atomic.Int64
	notLogged atomic.Uint64
}

// Record counts a panic, and logs it with the stack and with keysAndValues, unless the component
// has logged another one in the last ten seconds. The log goes to klog's logger. Call it in the
// deferred function that has recovered cause, so that the stack is the one of the panic. Record
// ignores cel-go's panic of type interpreter.EvalCancelledError, with which it ends evaluations,
// for example at a cost limit. It is safe for concurrent use.
func Record(component Component, cause any, keysAndValues ...any) {
	if !count(component, cause) {
		return
	}
	r := &records[component]
	now, due := time.Now().UnixNano(), r.next.Load()
	if now < due || !r.next.CompareAndSwap(due, now+int64(interval)) {
		r.notLogged.Add(1)
		return
	}
	log(component, cause, debug.Stack(), append(keysAndValues, "notLogged", r.notLogged.Swap(0)))
}

// count counts a panic. It returns false for a cancelled evaluation.
func count(component Component, cause any) bool {
	if _, cancelled := cause.(interpreter.EvalCancelledError); cancelled {
		return false
	}
	records[component].recovered.Add(1)
	return true
}

func log(component Component, cause any, stack []byte, keysAndValues []any) {
	keysAndValues = append(keysAndValues, "component", component.String(), "stack", string(stack))
	klog.Background().Error(fmt.Errorf("panic: %v", cause), "Recovered from a panic", keysAndValues...)
}

// A Recorder records the panics of one compiled expression. It is safe for concurrent
// use after Source is set.
type Recorder struct {
	// Source is the text of the expression.
	Source string
	// logged has a bit for each component that has logged a panic.
	logged atomic.Uint32
}

// Record counts a panic of the expression, and logs the first one of each component with the
// expression and the stack, however often other expressions have panicked. It calls stack only if
// it logs.
func (r *Recorder) Record(component Component, cause any, stack func() []byte) {
	if !count(component, cause) {
		return
	}
	if bit := uint32(1) << component; r.logged.Or(bit)&bit == 0 {
		log(component, cause, stack(), []any{"expression", r.Source})
	}
}

// Counts calls observe with the number of panics that each component has recovered since the
// process started.
func Counts(observe func(component Component, recovered uint64)) {
	for c := range components {
		observe(c, records[c].recovered.Load())
	}
}
