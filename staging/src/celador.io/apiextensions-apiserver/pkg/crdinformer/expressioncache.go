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

// ExpressionCache holds the expressions of the CustomResourceDefinitions that the informer
// delivered. CustomResourceDefinitions without expressions have no entry. An entry stays as long as
// a CustomResourceDefinition that the informer delivered with it is reachable, in the informer's
// cache or elsewhere, so that readers of an old CustomResourceDefinition find its expressions even
// if the informer has a newer one. It is safe for concurrent use.
type ExpressionCache struct {
	lock    sync.RWMutex
	entries map[revision]*entry
}

// A revision identifies a spec: every change of the spec increments the generation. There are two
// exceptions, after which a revision has other expressions: Kubernetes' servers on the same etcd
// drop expressions and leave the generation as it is, and a restored backup may have another spec
// in the same generation.
type revision struct {
	uid        types.UID
	generation int64
}

// An entry holds the expressions of a revision. crds counts the objects of the revision that the
// informer has delivered and that are still reachable: each change of metadata or status delivers
// another one.
type entry struct {
	expressions *apiextensions.ExpressionFields
	crds        int
}

func newExpressionCache() *ExpressionCache {
	return &ExpressionCache{entries: map[revision]*entry{}}
}

func revisionOf(crd *upstreamv1.CustomResourceDefinition) revision {
	return revision{crd.UID, crd.Generation}
}

// Of returns the expressions of a CustomResourceDefinition that the informer delivered, or nil if
// it has none. Callers must not modify them. A deep copy does not keep the entry: the caller must
// hold the original.
func (e *ExpressionCache) Of(crd *upstreamv1.CustomResourceDefinition) *apiextensions.ExpressionFields {
	e.lock.RLock()
	defer e.lock.RUnlock()
	if found, ok := e.entries[revisionOf(crd)]; ok {
		return found.expressions
	}
	return nil
}

// record adds the expressions of a CustomResourceDefinition, and removes them when the garbage
// collector finds that no CustomResourceDefinition with these expressions is reachable any more. If
// expressions is nil, record removes those that an earlier CustomResourceDefinition of the same
// generation had.
func (e *ExpressionCache) record(crd *upstreamv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields) {
	at := revisionOf(crd)
	e.lock.Lock()
	defer e.lock.Unlock()
	// A revision may have other expressions than before: the newest win.
	if expressions == nil {
		delete(e.entries, at)
		return
	}
	current, ok := e.entries[at]
	if !ok || !apiequality.Semantic.DeepEqual(current.expressions, expressions) {
		current = &entry{expressions: expressions}
		e.entries[at] = current
	}
	current.crds++
	runtime.AddCleanup(crd, func(recorded *entry) { e.release(at, recorded) }, current)
}

// release is called when a CustomResourceDefinition has become unreachable. If it was the last one
// of the entry, release removes the entry.
func (e *ExpressionCache) release(at revision, recorded *entry) {
	e.lock.Lock()
	defer e.lock.Unlock()
	recorded.crds--
	if recorded.crds == 0 && e.entries[at] == recorded {
		delete(e.entries, at)
	}
}
