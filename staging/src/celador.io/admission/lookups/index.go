// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"sync/atomic"

	"k8s.io/klog/v2"
	"k8s.io/utils/third_party/forked/golang/btree"
)

// An index is an Index of Objects. The lock of the Objects guards its fields.
type index struct {
	Index
	// users is the number of calls of StartIndex.
	users int
	// removed is set when the index has no user any more.
	removed atomic.Bool
	// postings is nil until the keys of all objects are computed. missed then holds the names of the
	// objects that have changed since the computation began.
	postings *postings
	missed   map[entry]struct{}
}

// postings hold the keys of objects in an index.
type postings struct {
	byKey *btree.BTree[posting]
	// failed is the number of objects whose keys cannot be computed.
	failed int
}

// compute returns the postings of all objects. It is not complete if the index is removed meanwhile.
func (i *index) compute(objects *btree.BTree[entry], log klog.Logger) (p postings, complete bool) {
	p.byKey = btree.New(degree, lessPosting)
	objects.Ascend(func(e entry) bool {
		p.add(i, e, log)
		return !i.removed.Load()
	})
	return p, !i.removed.Load()
}

func (p *postings) add(i *index, e entry, log klog.Logger) {
	keys, err := i.Keys(e.object)
	if err != nil {
		p.failed++
		log.V(2).Info("No key of a lookup's index finds an object", "index", i.Text(), "object", klog.KRef(e.namespace, e.name), "err", err)
	}
	for _, key := range keys {
		p.byKey.ReplaceOrInsert(posting{key, e})
	}
}

// remove removes an entry. It computes the keys again, which takes less memory than to keep them.
func (p *postings) remove(i *index, e entry) {
	keys, err := i.Keys(e.object)
	if err != nil {
		p.failed--
	}
	for _, key := range keys {
		p.byKey.Delete(posting{key, e})
	}
}
