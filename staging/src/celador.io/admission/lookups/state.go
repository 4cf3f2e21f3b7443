// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"cmp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/third_party/forked/golang/btree"
)

// A State holds the objects of a kind at one time. The objects are shared, and must not be changed.
// Immutable and safe for concurrent use.
type State struct {
	namespaced bool
	objects    *btree.BTree[entry]
	indexes    map[string]*btree.BTree[posting]
	unindexed  int
	// contents identifies the objects. All states of an ObjectCache have the same number until its
	// objects change, and no other state has that number. Changes of indexes do not change it.
	contents uint64
	// all returns the objects of all namespaces. It makes the list on the first call, because most
	// states are replaced before anybody lists them.
	all func() []runtime.Object
}

// An objectName is the namespace, empty for cluster-scoped kinds, and the name of an object.
type objectName struct{ namespace, name string }

// An entry is an object with its name.
type entry struct {
	objectName
	object runtime.Object
}

func compareEntries(a, b entry) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// A posting is an object under one of its keys in an index.
type posting struct {
	key string
	entry
}

func lessPosting(a, b posting) bool {
	return cmp.Or(strings.Compare(a.key, b.key), compareEntries(a.entry, b.entry)) < 0
}

// newEntry returns the entry of an object. It returns an error for an object without metadata.
func newEntry(object runtime.Object) (entry, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return entry{}, err
	}
	return entry{objectName{accessor.GetNamespace(), accessor.GetName()}, object}, nil
}

func newState(o *ObjectCache) *State {
	s := &State{namespaced: o.namespaced, objects: o.objects.Clone(), indexes: make(map[string]*btree.BTree[posting], len(o.indexes)), contents: o.contents}
	for text, i := range o.indexes {
		if i.postings != nil {
			s.indexes[text] = i.postings.byKey.Clone()
			s.unindexed += len(i.postings.failed)
		}
	}
	s.all = sync.OnceValue(func() []runtime.Object {
		list := make([]runtime.Object, 0, s.objects.Len())
		s.objects.Ascend(func(e entry) bool {
			list = append(list, e.object)
			return true
		})
		return list
	})
	return s
}

// Namespaced reports whether the kind is namespaced.
func (s *State) Namespaced() bool { return s.namespaced }

// SameObjects reports whether both states have the same objects, whatever indexes they have. It
// compares numbers instead of objects, and returns false for states of different caches, and for
// states before and after Replace, also if their objects are equal.
func (s *State) SameObjects(other *State) bool { return s.contents == other.contents }

// HasIndex reports whether the state has the index with a text.
func (s *State) HasIndex(text string) bool { return s.indexes[text] != nil }

// Get returns an object, or nil if there is none. namespace is empty for cluster-scoped kinds.
func (s *State) Get(namespace, name string) runtime.Object {
	found, _ := s.objects.Get(entry{objectName: objectName{namespace, name}})
	return found.object
}

// List returns the objects of a namespace or, if namespace is empty, all objects, in the order of
// namespaces and names. The slice is shared, and must not be changed.
func (s *State) List(namespace string) []runtime.Object {
	if namespace == "" {
		return s.all()
	}
	var list []runtime.Object
	s.objects.AscendGreaterOrEqual(entry{objectName: objectName{namespace: namespace}}, func(e entry) bool {
		if e.namespace != namespace {
			return false
		}
		list = append(list, e.object)
		return true
	})
	return list
}

// Indexed returns the objects of a namespace or, if namespace is empty, of all namespaces that an
// index has under a key, in the order of namespaces and names. It returns false if the state does
// not have the index.
func (s *State) Indexed(text, namespace, key string) (found []runtime.Object, ok bool) {
	ok = s.eachIndexed(text, namespace, key, func(object runtime.Object) { found = append(found, object) })
	return found, ok
}

// IndexedLen returns the number of objects that Indexed returns. It makes no list of them.
func (s *State) IndexedLen(text, namespace, key string) (count int, ok bool) {
	ok = s.eachIndexed(text, namespace, key, func(runtime.Object) { count++ })
	return count, ok
}

// eachIndexed calls found with each object that Indexed returns.
func (s *State) eachIndexed(text, namespace, key string, found func(runtime.Object)) bool {
	postings, ok := s.indexes[text]
	if !ok {
		return false
	}
	postings.AscendGreaterOrEqual(posting{key, entry{objectName: objectName{namespace: namespace}}}, func(p posting) bool {
		if p.key != key || namespace != "" && p.namespace != namespace {
			return false
		}
		found(p.object)
		return true
	})
	return true
}

// Len returns the number of objects of a namespace or, if namespace is empty, of all namespaces.
func (s *State) Len(namespace string) int {
	if namespace == "" {
		return s.objects.Len()
	}
	count := 0
	s.objects.AscendGreaterOrEqual(entry{objectName: objectName{namespace: namespace}}, func(e entry) bool {
		if e.namespace == namespace {
			count++
		}
		return e.namespace == namespace
	})
	return count
}

// Unindexed returns the number of objects that no key finds because their keys cannot be computed.
// An object counts once for each index.
func (s *State) Unindexed() int { return s.unindexed }
