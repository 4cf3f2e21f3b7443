// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdinformer

import (
	"runtime"
	"sync"

	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Expressions holds the expressions of the definitions that the informer delivered. Definitions
// without expressions have no entry. An entry stays as long as a definition that the informer delivered
// with it is reachable, in the informer's cache or elsewhere, so that readers of an old definition
// find its expressions even if the informer has a newer one. It is safe for concurrent use.
type Expressions struct {
	lock    sync.RWMutex
	entries map[revision]*entry
}

// A revision identifies the spec of a definition: every change of it increments the generation.
type revision struct {
	uid        types.UID
	generation int64
}

// entry holds the expressions of a revision. Definitions of the revision that differ in metadata or
// status share it.
type entry struct {
	expressions *apiextensions.Expressions
	definitions int
}

func newExpressions() *Expressions {
	return &Expressions{entries: map[revision]*entry{}}
}

func revisionOf(definition *upstreamv1.CustomResourceDefinition) revision {
	return revision{definition.UID, definition.Generation}
}

// Of returns the expressions of a definition that the informer delivered, or nil if it has none.
// Callers must not modify them. A deep copy does not keep the entry: the caller must hold the original.
func (e *Expressions) Of(definition *upstreamv1.CustomResourceDefinition) *apiextensions.Expressions {
	e.lock.RLock()
	defer e.lock.RUnlock()
	if found, ok := e.entries[revisionOf(definition)]; ok {
		return found.expressions
	}
	return nil
}

// record adds the expressions of a definition, or none if they are nil, until the garbage collector
// finds the definition unreachable.
func (e *Expressions) record(definition *upstreamv1.CustomResourceDefinition, expressions *apiextensions.Expressions) {
	at := revisionOf(definition)
	e.lock.Lock()
	defer e.lock.Unlock()
	// A restored backup may have other expressions in the same revision: the newest win.
	if expressions == nil {
		delete(e.entries, at)
		return
	}
	current, ok := e.entries[at]
	if !ok || !apiequality.Semantic.DeepEqual(current.expressions, expressions) {
		current = &entry{expressions: expressions}
		e.entries[at] = current
	}
	current.definitions++
	runtime.AddCleanup(definition, func(recorded *entry) { e.release(at, recorded) }, current)
}

// release removes the entry after its last definition.
func (e *Expressions) release(at revision, recorded *entry) {
	e.lock.Lock()
	defer e.lock.Unlock()
	recorded.definitions--
	if recorded.definitions == 0 && e.entries[at] == recorded {
		delete(e.entries, at)
	}
}
