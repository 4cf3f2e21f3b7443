// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A schemaSet is the view of a list with x-kubernetes-list-type set. Two sets are equal if they
// have the same elements in any order, and their sum has each element once.
type schemaSet struct {
	schemaList
	// members holds the elements as keys of a Go map, to compare sets in linear time. If an element
	// cannot be a key, err is the reason. Both are nil until an expression compares the set.
	members map[any]struct{}
	err     ref.Val
}

// Equal implements ref.Val.
func (s *schemaSet) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if s.Size() != o.Size() {
		return types.False
	}
	if s.members == nil && s.err == nil {
		s.members, s.err = membersOf(s)
	}
	if s.err != nil {
		return s.err
	}
	return equalSets(s.members, o)
}

// Add implements traits.Adder.
func (s *schemaSet) Add(other ref.Val) ref.Val { return addSets(s, other) }

// A setSum is the sum of a set and another list. It is a set, too.
type setSum struct{ traits.Lister }

// Equal implements ref.Val.
func (s *setSum) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if s.Size() != o.Size() {
		return types.False
	}
	members, err := membersOf(s)
	if err != nil {
		return err
	}
	return equalSets(members, o)
}

// Add implements traits.Adder.
func (s *setSum) Add(other ref.Val) ref.Val { return addSets(s, other) }

func addSets(l traits.Lister, r ref.Val) ref.Val {
	other, ok := r.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(r)
	}
	members, err := membersOf(l)
	if err != nil {
		return err
	}
	sum := elementsOf(l)
	for it := other.Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		key, err := memberKey(v)
		if err != nil {
			return err
		}
		if _, found := members[key]; !found {
			members[key] = struct{}{}
			sum = append(sum, v)
		}
	}
	return &setSum{types.NewRefValList(types.DefaultTypeAdapter, sum)}
}

// equalSets compares the members of a set with the elements of a list of the same size.
func equalSets(members map[any]struct{}, other traits.Lister) ref.Val {
	seen := make(map[any]struct{}, len(members))
	for it := other.Iterator(); it.HasNext() == types.True; {
		key, err := memberKey(it.Next())
		if err != nil {
			return err
		}
		if _, found := members[key]; !found {
			return types.False
		}
		seen[key] = struct{}{}
	}
	return types.Bool(len(seen) == len(members))
}

// membersOf returns the elements of a set as keys of a new map, or a CEL error if an element cannot
// be a key.
func membersOf(list traits.Lister) (map[any]struct{}, ref.Val) {
	members := map[any]struct{}{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		key, err := memberKey(it.Next())
		if err != nil {
			return nil, err
		}
		members[key] = struct{}{}
	}
	return members, nil
}

// memberKey returns the key of an element in the map of a set. Equal elements have equal keys. It
// returns a CEL error for lists and maps.
func memberKey(element ref.Val) (any, ref.Val) {
	switch element.(type) {
	case traits.Lister, traits.Mapper:
		return nil, types.NewErr("listSet operations are only supported on lists of scalar values")
	}
	return hashable(element.Value()), nil
}

// hashable returns a value that can be a key of a Go map and stands for content: content itself,
// or, if that cannot be a key, its text in Go syntax, such as []byte{0x61}.
func hashable(content any) any {
	if content != nil && !reflect.TypeOf(content).Comparable() {
		return fmt.Sprintf("%#v", content)
	}
	return content
}
