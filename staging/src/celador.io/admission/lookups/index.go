// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"sync/atomic"

	"k8s.io/klog/v2"
	"k8s.io/utils/third_party/forked/golang/btree"
)

// An index holds the postings of an Indexer. The lock of the ObjectCache guards its fields.
type index struct {
	Indexer
	// users is the number of calls of StartIndex that no call of RemoveIndex has undone.
	users int
	// removed is set when the index has no user any more.
	removed atomic.Bool
	// postings is nil until the keys of all objects are computed. Meanwhile, missed collects the
	// names of objects that have changed since the computation began: their keys are computed again
	// at its end.
	postings *postings
	missed   map[objectName]struct{}
}

// keysOf returns the keys of an object. If they cannot be computed, it logs the reason.
func (i *index) keysOf(e entry, log klog.Logger) (k keys) {
	k.found, k.err = i.Keys(e.object)
	if k.err != nil {
		log.V(2).Info("No key of a lookup's index finds an object", "index", i.Text(), "object", klog.KRef(e.namespace, e.name), "err", k.err)
	}
	return k
}

// compute returns the postings of all objects. It is not complete if the index is removed meanwhile.
func (i *index) compute(objects *btree.BTree[entry], log klog.Logger) (p *postings, complete bool) {
	p = &postings{btree.New(degree, lessPosting), map[objectName][]string{}, map[objectName]struct{}{}}
	objects.Ascend(func(e entry) bool {
		p.set(e, i.keysOf(e, log))
		return !i.removed.Load()
	})
	return p, !i.removed.Load()
}

// keys are the keys of an object, or the reason why they cannot be computed.
type keys struct {
	found []string
	err   error
}

// postings hold the keys of objects in an index.
type postings struct {
	byKey *btree.BTree[posting]
	// byName holds the keys under which each object is in byKey, so that it can be removed there.
	// Computing the keys again could return others, if the expression of the index depends on the
	// order of a map.
	byName map[objectName][]string
	// failed holds the objects whose keys cannot be computed.
	failed map[objectName]struct{}
}

// set replaces the keys of an object.
func (p *postings) set(e entry, k keys) {
	p.remove(e.objectName)
	if k.err != nil {
		p.failed[e.objectName] = struct{}{}
	}
	for _, key := range k.found {
		p.byKey.ReplaceOrInsert(posting{key, e})
	}
	if len(k.found) > 0 {
		p.byName[e.objectName] = k.found
	}
}

func (p *postings) remove(name objectName) {
	for _, key := range p.byName[name] {
		p.byKey.Delete(posting{key, entry{objectName: name}})
	}
	delete(p.byName, name)
	delete(p.failed, name)
}
