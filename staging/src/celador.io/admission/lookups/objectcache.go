// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/third_party/forked/golang/btree"
)

// degree is the degree of the trees, as in the watch cache of k8s.io/apiserver.
const degree = 16

// ObjectCache holds the present objects of one kind and their indexes, and publishes a State after
// each change. A change copies a few nodes of the trees, and no list of all objects. The caller
// must not change the objects that it adds. Safe for concurrent use.
type ObjectCache struct {
	namespaced bool
	log        klog.Logger
	state      atomic.Pointer[State]

	// lock guards all fields below. A method that changes objects, known or the postings of an
	// index (the objects under their keys) must hold writes as well. It computes keys, which may
	// take long, while it holds only writes, so that StartIndex and RemoveIndex do not wait for it.
	writes sync.Mutex
	lock   sync.Mutex
	// objects is another tree, with another address, after each Replace. commit relies on that.
	objects *btree.BTree[entry]
	// contents is the number of the last change of objects.
	contents uint64
	// known is set once Replace was called.
	known   bool
	indexes map[string]*index
}

// lastContents is the number of the last change of any ObjectCache.
var lastContents atomic.Uint64

// NewObjectCache returns an ObjectCache without objects. It logs, at V(2), the objects whose keys
// cannot be computed. An index lacks these objects.
func NewObjectCache(namespaced bool, log klog.Logger) *ObjectCache {
	return &ObjectCache{namespaced: namespaced, log: log, objects: newTree(), indexes: map[string]*index{}}
}

func newTree() *btree.BTree[entry] {
	return btree.New(degree, func(a, b entry) bool { return compareEntries(a, b) < 0 })
}

// State returns the present state, or nil before Replace was called.
func (o *ObjectCache) State() *State { return o.state.Load() }

// Replace replaces all objects. It returns an error, and changes nothing, if an object has no
// metadata.
func (o *ObjectCache) Replace(objects []runtime.Object) error {
	tree := newTree()
	for _, object := range objects {
		e, err := newEntry(object)
		if err != nil {
			return err
		}
		tree.ReplaceOrInsert(e)
	}
	o.writes.Lock()
	defer o.writes.Unlock()
	computed := map[*index]*postings{}
	for _, i := range o.open() {
		computed[i], _ = i.compute(tree, o.log)
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	o.objects, o.known, o.contents = tree, true, lastContents.Add(1)
	for i, p := range computed {
		// Indexes that were added meanwhile are filled with the new objects by fill.
		i.postings = p
	}
	o.publish()
	return nil
}

// open returns the present indexes.
func (o *ObjectCache) open() []*index {
	o.lock.Lock()
	defer o.lock.Unlock()
	return slices.Collect(maps.Values(o.indexes))
}

// Set adds an object or replaces the one with the same name. It returns an error if the object has
// no metadata.
func (o *ObjectCache) Set(object runtime.Object) error {
	e, err := newEntry(object)
	if err != nil {
		return err
	}
	o.change(e, true)
	return nil
}

// Delete removes the object with the name of the given object. It returns an error if that has no
// metadata.
func (o *ObjectCache) Delete(object runtime.Object) error {
	e, err := newEntry(object)
	if err != nil {
		return err
	}
	o.change(e, false)
	return nil
}

// change replaces the object with the name of e by e, or removes it.
func (o *ObjectCache) change(e entry, present bool) {
	o.writes.Lock()
	defer o.writes.Unlock()
	computed := map[*index]keys{}
	if present {
		for _, i := range o.filled() {
			computed[i] = i.keysOf(e, o.log)
		}
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	for _, i := range o.indexes {
		switch {
		case i.postings == nil:
			i.missed[e.objectName] = struct{}{}
		case present:
			i.postings.set(e, computed[i])
		default:
			i.postings.remove(e.objectName)
		}
	}
	if present {
		o.objects.ReplaceOrInsert(e)
	} else {
		o.objects.Delete(e)
	}
	o.contents = lastContents.Add(1)
	o.publish()
}

// filled returns the indexes for which the keys of all objects are computed, and which therefore
// need the keys of a changed object. The caller holds writes, so that no other index becomes one of
// them meanwhile.
func (o *ObjectCache) filled() []*index {
	return slices.DeleteFunc(o.open(), func(i *index) bool { return i.postings == nil })
}

// AddIndex adds an index and computes the keys of the present objects, as StartIndex and the
// function that it returns do. The caller must call RemoveIndex once for each call of AddIndex.
func (o *ObjectCache) AddIndex(added Indexer) { o.StartIndex(added)() }

// StartIndex adds an index, and returns a function that computes the keys of the present objects,
// which may take long. States have the index as soon as that function returns. If another caller
// has added the index before, the function does nothing, and States have the index as soon as the
// function of that caller returns. Each call of StartIndex needs one of RemoveIndex.
func (o *ObjectCache) StartIndex(added Indexer) (fill func()) {
	o.lock.Lock()
	defer o.lock.Unlock()
	i, ok := o.indexes[added.Text()]
	if !ok {
		i = &index{Indexer: added, missed: map[objectName]struct{}{}}
		o.indexes[added.Text()] = i
		fill = func() { o.fill(i) }
	} else {
		fill = func() {}
	}
	i.users++
	return fill
}

// RemoveIndex undoes one call of AddIndex or StartIndex. The last of these calls removes the index.
func (o *ObjectCache) RemoveIndex(text string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	i := o.indexes[text]
	if i.users--; i.users == 0 {
		i.removed.Store(true)
		delete(o.indexes, text)
		o.publish()
	}
}

// publish publishes the present state. The caller holds the lock.
func (o *ObjectCache) publish() {
	if o.known {
		o.state.Store(newState(o))
	}
}

// fill computes the postings of a new index. Meanwhile, objects may change.
func (o *ObjectCache) fill(i *index) {
	for done := false; !done; {
		o.lock.Lock()
		present, of := o.objects.Clone(), o.objects
		clear(i.missed)
		o.lock.Unlock()
		computed, complete := i.compute(present, o.log)
		done = !complete || o.commit(i, computed, of)
	}
}

// commit completes the index i with its computed postings. The parameter of is the tree of objects
// from which they were computed while objects could change, so commit first updates them for the
// objects that have changed. It returns false, and does nothing, if Replace has replaced the tree.
func (o *ObjectCache) commit(i *index, computed *postings, of *btree.BTree[entry]) bool {
	o.writes.Lock()
	defer o.writes.Unlock()
	if i.postings != nil { // Replace has computed them
		return true
	}
	if o.objects != of {
		return false
	}
	for name := range i.missed {
		if current, ok := o.objects.Get(entry{objectName: name}); ok {
			computed.set(current, i.keysOf(current, o.log))
		} else {
			computed.remove(name)
		}
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	i.postings, i.missed = computed, nil
	o.publish()
	return true
}
