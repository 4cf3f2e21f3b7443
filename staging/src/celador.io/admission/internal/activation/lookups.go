// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/lazy"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/rulepath"
	"celador.io/admission/lookups"
)

// A LookupDefinition is a lookup of a policy, with its apiVersion parsed. Immutable.
type LookupDefinition struct {
	*v1.Lookup
	Kind schema.GroupVersionKind
	// Index is nil if the lookup has no index.
	Index *LookupIndexer
}

// Open opens the kind and the index of the lookup.
func (d *LookupDefinition) Open(source lookups.Source) lookups.Handle {
	if d.Index == nil { // an interface that holds a nil pointer is not nil
		return source.Open(d.Kind, nil)
	}
	return source.Open(d.Kind, d.Index)
}

// LookupStates holds the looked up objects that the expressions of one request have read, as one
// state of each kind, so that all policies see the same objects. It also holds the errors of failed
// reads, so that a request does not wait for the same read again. Not safe for concurrent use.
type LookupStates struct {
	states    map[readKind]*lookups.State
	failures  map[failedRead]error
	revisions lookups.Revisions
}

// A readKind is a kind as lookups of one consistency read it.
type readKind struct {
	schema.GroupVersionKind
	latest bool
}

// A failedRead is a read of a kind by lookups with an index, or without one if index is empty.
type failedRead struct {
	readKind
	index string
}

// NewLookupStates returns LookupStates for one request.
func NewLookupStates() *LookupStates {
	return &LookupStates{map[readKind]*lookups.State{}, map[failedRead]error{}, lookups.Revisions{}}
}

// Lookups is the value of 'lookups' for one policy and one request. Not safe for concurrent use.
type Lookups struct {
	Context context.Context
	// Namespace is the namespace of the request, or empty.
	Namespace string
	States    *LookupStates
	// Definitions holds the lookups of the policy, and Handles the handle of each, in the same
	// order. Handles is empty if the host gives no access to objects; all lookups then fail.
	Definitions []LookupDefinition
	Handles     []lookups.Handle

	// object is nil until it is first read.
	object ref.Val
	costs  expression.LookupCosts
}

var lookupsType = types.NewObjectType(expression.LookupsTypeName)

func (l *Lookups) value() ref.Val {
	if l == nil {
		return nil
	}
	if l.object == nil {
		object := lazy.NewMapValue(lookupsType)
		for i := range l.Definitions {
			object.Append(l.Definitions[i].Name, func(*lazy.MapValue) ref.Val {
				return expression.LookupValue(&lookup{Lookups: l, definition: &l.Definitions[i], position: i}, &l.costs)
			})
		}
		l.object = object
	}
	return l.object
}

// A lookup implements expression.Lookup.
type lookup struct {
	*Lookups
	definition *LookupDefinition
	position   int
	// counted is the state in which the scope of the lookup has count objects, or nil.
	counted *lookups.State
	count   int
	// selected is the selector of the last call of List.
	selected selection
}

// A selection is a parsed label selector.
type selection struct {
	text string
	labels.Selector
	err error
	// values is how many values an object is compared with at most.
	values int
}

// state returns the objects of the kind that all expressions of the request read, and the namespace
// to which the scope restricts the lookup, or "" for all objects. It returns an error if the scope
// does not fit the kind or the request, and the errors of read.
func (l *lookup) state() (state *lookups.State, namespace string, err error) {
	kind := l.definition.Kind
	state = l.States.states[readKind{kind, l.latest()}]
	if state == nil {
		if state, err = l.read(nil); err != nil {
			return nil, "", err
		}
	}
	scope := l.definition.Scope
	switch {
	case !state.Namespaced() && scope != nil && *scope == v1.NamespaceLookupScope:
		return nil, "", l.failed(fmt.Errorf("%s is cluster-scoped: remove scope %s", kind.Kind, *scope))
	case !state.Namespaced() || scope != nil && *scope == v1.ClusterLookupScope:
		return state, "", nil
	case l.Namespace == "":
		return nil, "", l.failed(fmt.Errorf("the request has no namespace: set scope %s", v1.ClusterLookupScope))
	default:
		return state, l.Namespace, nil
	}
}

// latest reports whether the consistency of the lookup is Latest.
func (l *lookup) latest() bool {
	consistency := l.definition.Consistency
	return consistency != nil && *consistency == v1.LatestLookupConsistency
}

// read returns the present state of the objects, and keeps it, so that all lookups of the request
// with the same kind and consistency read it from now on. If the same read has failed before in the
// request, it returns that error, so that the request waits only once. known is the state that
// these lookups have read so far, or nil. read fails if the objects have changed since known,
// because the policies would then see different objects in one request.
func (l *lookup) read(known *lookups.State) (*lookups.State, error) {
	if len(l.Handles) == 0 {
		return nil, l.failed(errors.New("this host reads no other objects"))
	}
	read := failedRead{readKind: readKind{l.definition.Kind, l.latest()}}
	if l.definition.Index != nil {
		read.index = l.definition.Index.Text()
	}
	err := l.States.failures[read]
	if err == nil {
		var state *lookups.State
		handle := l.Handles[l.position]
		if versioned, ok := handle.(lookups.LatestHandle); ok && read.latest {
			state, err = versioned.Latest(l.Context, l.States.revisions)
		} else {
			state, err = handle.State(l.Context)
		}
		if err == nil && known != nil && !known.SameObjects(state) {
			err = errors.New("the index is not known yet: it lacks the objects of the request")
		}
		if err == nil {
			l.States.states[read.readKind] = state
			return state, nil
		}
		l.States.failures[read] = err
	}
	return nil, l.failed(err)
}

func (l *lookup) failed(err error) error {
	return fmt.Errorf("lookup '%s' of %s in %s failed: %w", l.definition.Name, l.definition.Lookup.Kind, l.definition.APIVersion, err)
}

// Get implements expression.Lookup.
func (l *lookup) Get(namespace, name string, qualified bool) (ref.Val, error) {
	state, scope, err := l.state()
	if err != nil {
		return nil, err
	}
	switch {
	case !qualified && !state.Namespaced():
		namespace = ""
	case !qualified && l.Namespace == "":
		return nil, l.failed(errors.New("the request has no namespace: write get(namespace, name)"))
	case !qualified:
		namespace = l.Namespace
	case !state.Namespaced():
		return nil, l.failed(fmt.Errorf("%s is cluster-scoped: write get(name)", l.definition.Kind.Kind))
	case scope != "" && namespace != scope:
		return nil, l.failed(fmt.Errorf("namespace %q is not that of the request: set scope %s", namespace, v1.ClusterLookupScope))
	}
	object := state.Get(namespace, name)
	if object == nil {
		return nil, nil
	}
	return ObjectValue(object, Typed), nil
}

// List implements expression.Lookup.
func (l *lookup) List(selector string) (traits.Lister, error) {
	state, namespace, err := l.state()
	if err != nil {
		return nil, err
	}
	if selector == "" {
		return objectList(state.List(namespace)), nil
	}
	parsed := l.parse(selector)
	if parsed.err != nil {
		return nil, parsed.err
	}
	var selected []runtime.Object
	for i, object := range state.List(namespace) {
		if i%checkFrequency == 0 && l.Context.Err() != nil {
			return nil, l.failed(context.Cause(l.Context))
		}
		if parsed.Matches(lookupLabels(object)) {
			selected = append(selected, object)
		}
	}
	return objectList(selected), nil
}

// checkFrequency is the number of objects after which List looks whether the request has ended.
const checkFrequency = 1000

// parse returns the parsed selector, or the one that it has kept if the last selector was the same.
// An error does not repeat a long selector, which may come from the request.
func (l *lookup) parse(selector string) *selection {
	if s := &l.selected; s.text != selector {
		*s = selection{text: selector}
		if s.Selector, s.err = labels.Parse(selector); s.err != nil {
			s.err = l.failed(fmt.Errorf("label selector %q: %s", rulepath.Abbreviate(selector), rulepath.Abbreviate(s.err.Error())))
			return s
		}
		requirements, _ := s.Requirements()
		for i := range requirements {
			s.values += max(1, len(requirements[i].ValuesUnsorted()))
		}
	}
	return &l.selected
}

// ListCost implements expression.Lookup. To parse costs as much as CEL's own functions of strings.
func (l *lookup) ListCost(selector string) int {
	parsing := len(selector) / 10
	state, namespace, err := l.state()
	if err != nil || parsing > celconfig.PerCallLimit {
		return parsing
	}
	values := 1
	if selector != "" {
		parsed := l.parse(selector)
		if parsed.err != nil {
			return parsing
		}
		values = max(1, parsed.values)
	}
	if l.counted != state {
		l.counted, l.count = state, state.Len(namespace)
	}
	return parsing + l.count*values
}

// Indexed implements expression.Lookup.
func (l *lookup) Indexed(key string) (traits.Lister, error) {
	state, namespace, err := l.indexState()
	if err != nil {
		return nil, err
	}
	found, _ := state.Indexed(l.definition.Index.Text(), namespace, key)
	return objectList(found), nil
}

// IndexedLen implements expression.Lookup.
func (l *lookup) IndexedLen(key string) int {
	state, namespace, err := l.indexState()
	if err != nil {
		return 0
	}
	count, _ := state.IndexedLen(l.definition.Index.Text(), namespace, key)
	return count
}

// indexState is state for a state that has the index of the lookup.
func (l *lookup) indexState() (state *lookups.State, namespace string, err error) {
	if l.definition.Index == nil {
		return nil, "", l.failed(errors.New("it has no index: set the field index"))
	}
	if err := l.definition.Index.compile().Err; err != nil { // it finds no keys of any object
		return nil, "", l.failed(fmt.Errorf("the index does not compile: %w", err))
	}
	if state, namespace, err = l.state(); err != nil || state.HasIndex(l.definition.Index.Text()) {
		return state, namespace, err
	}
	// Another policy has read the kind in this request before the index was added.
	if state, err = l.read(state); err != nil {
		return nil, "", err
	}
	if !state.HasIndex(l.definition.Index.Text()) {
		return nil, "", l.failed(errors.New("the index is not known yet"))
	}
	return state, namespace, nil
}

// objectList returns the CEL list of objects. It makes the value of an object when the object is
// read.
func objectList(objects []runtime.Object) traits.Lister {
	return types.NewDynamicList(objectAdapter{}, objects)
}

type objectAdapter struct{}

// NativeToValue implements types.Adapter.
func (objectAdapter) NativeToValue(value any) ref.Val {
	if object, ok := value.(runtime.Object); ok {
		return ObjectValue(object, Typed)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

func lookupLabels(object runtime.Object) labels.Set {
	accessor, err := meta.Accessor(object)
	if err != nil { // lookups.ObjectCache accepts no such object
		return nil
	}
	return accessor.GetLabels()
}
