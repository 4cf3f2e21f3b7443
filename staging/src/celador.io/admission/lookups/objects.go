// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/third_party/forked/golang/btree"
)

// degree is the degree of the trees, as in the watch cache of k8s.io/apiserver.
const degree = 16

// Objects holds the present objects of one kind and their indexes, and publishes a State after each
// change. A change copies a few nodes of the trees, and no list of all objects. The objects must not
// be changed afterwards. Safe for concurrent use.
type Objects struct {
	namespaced bool
	log        klog.Logger
	state      atomic.Pointer[State]

	lock    sync.Mutex
	objects *btree.BTree[entry]
	// known is set once Replace was called.
	known   bool
	indexes map[string]*index
}

// An index is an Index with its postings. users is the number of calls of AddIndex.
type index struct {
	Index
	users    int
	postings *btree.BTree[posting]
}

// NewObjects returns Objects without objects. It logs, at V(2), the
// objects whose keys cannot be computed, which no key finds.
func NewObjects(namespaced bool, log klog.Logger) *Objects {
	return &Objects{namespaced: namespaced, log: log, objects: newTree(), indexes: map[string]*index{}}
}

func newTree() *btree.BTree[entry] {
	return btree.New(degree, func(a, b entry) bool { return compareEntries(a, b) < 0 })
}

// State returns the present state, or nil before Replace was called.
func (o *Objects) State() *State { return o.state.Load() }

// Replace replaces all objects. It returns an error, and changes nothing, if an object has no
// metadata.
func (o *Objects) Replace(objects []runtime.Object) error {
	tree := newTree()
	for _, object := range objects {
		e, err := newEntry(object)
		if err != nil {
			return err
		}
		tree.ReplaceOrInsert(e)
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	o.objects, o.known = tree, true
	for _, i := range o.indexes {
		o.fill(i)
	}
	o.publish()
	return nil
}

// Set adds an object or replaces the one with the same name. It returns an error if the object has
// no metadata.
func (o *Objects) Set(object runtime.Object) error {
	return o.change(object, func(e entry) {
		for _, i := range o.indexes {
			i.add(o.log, e)
		}
		o.objects.ReplaceOrInsert(e)
	})
}

// Delete removes the object with the name of the given object. It returns an error if that has no
// metadata.
func (o *Objects) Delete(object runtime.Object) error {
	return o.change(object, func(e entry) { o.objects.Delete(e) })
}

// change removes the present object from the indexes, and then calls apply.
func (o *Objects) change(object runtime.Object, apply func(entry)) error {
	e, err := newEntry(object)
	if err != nil {
		return err
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	if old, ok := o.objects.Get(e); ok {
		for _, i := range o.indexes {
			i.remove(old)
		}
	}
	apply(e)
	o.publish()
	return nil
}

// AddIndex adds an index, which states have when AddIndex returns. Each call needs one of
// RemoveIndex.
func (o *Objects) AddIndex(added Index) {
	o.lock.Lock()
	defer o.lock.Unlock()
	i, ok := o.indexes[added.Text()]
	if !ok {
		i = &index{Index: added}
		o.indexes[added.Text()] = i
		o.fill(i)
		o.publish()
	}
	i.users++
}

// RemoveIndex removes an index if each of its users has.
func (o *Objects) RemoveIndex(text string) {
	o.lock.Lock()
	defer o.lock.Unlock()
	i := o.indexes[text]
	if i.users--; i.users == 0 {
		delete(o.indexes, text)
		o.publish()
	}
}

// publish publishes the present state. The caller holds the lock.
func (o *Objects) publish() {
	if o.known {
		o.state.Store(newState(o))
	}
}

// fill computes the postings of all objects.
func (o *Objects) fill(i *index) {
	i.postings = btree.New(degree, lessPosting)
	o.objects.Ascend(func(e entry) bool {
		i.add(o.log, e)
		return true
	})
}

func (i *index) add(log klog.Logger, e entry) {
	keys, err := i.Keys(e.object)
	if err != nil {
		log.V(2).Info("No key of a lookup's index finds an object", "index", i.Text(), "object", klog.KRef(e.namespace, e.name), "err", err)
	}
	for _, key := range keys {
		i.postings.ReplaceOrInsert(posting{key, e})
	}
}

// remove removes the postings of an entry. It computes the keys again, which takes less memory than
// to keep them.
func (i *index) remove(e entry) {
	keys, _ := i.Keys(e.object)
	for _, key := range keys {
		i.postings.Delete(posting{key, e})
	}
}
