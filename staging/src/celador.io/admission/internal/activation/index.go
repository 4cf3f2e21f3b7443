// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/lookups"
	"celador.io/admission/policyspec"
)

const (
	// maxKeys is the maximum number of keys of an object, maxKeyBytes the maximum length of one, and
	// maxBytes that of all.
	maxKeys, maxKeyBytes, maxBytes = 1000, 1024, 64 << 10
)

// NewLookupIndexer returns the index of a lookup, whose expression is source. The index compiles
// source when it first computes the keys of an object.
func NewLookupIndexer(compiler *expression.Compiler, source string) *LookupIndexer {
	return &LookupIndexer{source, sync.OnceValue(func() *expression.Compiled {
		program, err := compiler.Compile(source, expression.Declarations{Item: true}, environment.StoredExpressions, policyspec.Index.Returns()...)
		return &expression.Compiled{Program: program, Err: err}
	})}
}

// A LookupIndexer is the index of a lookup. It implements lookups.Indexer.
type LookupIndexer struct {
	source  string
	compile func() *expression.Compiled
}

var _ lookups.Indexer = &LookupIndexer{}

// Text implements lookups.Indexer.
func (i *LookupIndexer) Text() string { return i.source }

// Keys implements lookups.Indexer.
func (i *LookupIndexer) Keys(object runtime.Object) ([]string, error) {
	value, err := i.compile().Evaluate(expression.NewIndexSeries(item{ObjectValue(object, Typed)}))
	if err != nil {
		return nil, err
	}
	list, ok := value.(traits.Lister)
	if !ok {
		list = types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{value})
	}
	count := int(list.Size().(types.Int))
	if count > maxKeys {
		return nil, fmt.Errorf("%d keys: an index must not have more than %d keys for an object", count, maxKeys)
	}
	keys, size := make([]string, count), 0
	for at := range keys {
		key, ok := list.Get(types.Int(at)).(types.String)
		switch {
		case !ok:
			return nil, fmt.Errorf("key %d is of type %s: an index must return a string or a list of strings", at, list.Get(types.Int(at)).Type().TypeName())
		case len(key) > maxKeyBytes:
			return nil, fmt.Errorf("key %d has %d bytes: a key must not be longer than %d bytes", at, len(key), maxKeyBytes)
		}
		keys[at] = string(key)
		if size += len(key); size > maxBytes {
			return nil, fmt.Errorf("the keys before key %d have more than %d bytes: all keys of an object must not be longer", at+1, maxBytes)
		}
	}
	return keys, nil
}

// An item is the activation for the expression of an index: it resolves 'item' to the object.
type item struct{ value ref.Val }

// ResolveName implements interpreter.Activation.
func (i item) ResolveName(name string) (any, bool) { return i.value, name == expression.Item }

// Parent implements interpreter.Activation.
func (item) Parent() interpreter.Activation { return nil }
