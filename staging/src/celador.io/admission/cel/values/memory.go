// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
)

// Memory is memory for the values of one request after the other. The zero value is ready for use,
// and nil stands for memory of the garbage collector. Not safe for concurrent use.
type Memory struct {
	structs pool[structValue]
	lists   pool[listValue]
	maps    pool[mapValue]
}

// Of returns the value that the function Of returns, in the memory. The value and its parts are
// valid until Clear.
func (m *Memory) Of(object any) ref.Val { return typedPlans.of(object, m) }

// Clear makes the memory available to other values, and drops all references of those that Of has
// returned.
func (m *Memory) Clear() {
	for _, s := range m.structs.clear() {
		s.clear()
	}
	for _, l := range m.lists.clear() {
		l.clear()
	}
	for _, v := range m.maps.clear() {
		*v = mapValue{}
	}
}

func (m *Memory) structure(p *plan, object reflect.Value) *structValue {
	var s *structValue
	if m == nil {
		s = new(structValue)
	} else {
		s = m.structs.next()
	}
	s.plan, s.object, s.memory = p, object, m
	return s
}

func (m *Memory) list(elem *plan, object reflect.Value) *listValue {
	var l *listValue
	if m == nil {
		l = new(listValue)
	} else {
		l = m.lists.next()
	}
	l.elem, l.object, l.memory = elem, object, m
	return l
}

func (m *Memory) mapping(elem *plan, object reflect.Value) *mapValue {
	var v *mapValue
	if m == nil {
		v = new(mapValue)
	} else {
		v = m.maps.next()
	}
	v.elem, v.object, v.memory = elem, object, m
	switch native := object.Interface().(type) {
	case map[string]string:
		v.strings = native
	case corev1.ResourceList:
		v.resources = native
	}
	return v
}

// pool holds values of one type for reuse. Those that are in use come first.
type pool[T any] struct {
	all  []*T
	used int
}

// maxPooled bounds the memory that one request with a huge object leaves to the others.
const maxPooled = 256

// next returns an empty value. Values beyond maxPooled are left to the garbage collector.
func (p *pool[T]) next() *T {
	if p.used == maxPooled {
		return new(T)
	}
	if p.used == len(p.all) {
		p.all = append(p.all, new(T))
	}
	p.used++
	return p.all[p.used-1]
}

// clear makes all values available to next, and returns those that were in use. The caller must
// empty them.
func (p *pool[T]) clear() []*T {
	used := p.all[:p.used]
	p.used = 0
	return used
}
