// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/values"
)

// maxParts bounds the time that Keep takes.
const maxParts = 256

// Keep reports whether a value may be kept for the evaluations of other policies. It returns true
// for these kinds of values, if all parts are of these kinds, too:
//
//   - null, bools, numbers, strings, bytes, durations, timestamps and types
//   - quantities, URLs, IP addresses, CIDRs, semantic versions and named formats
//   - views (package values), which read objects that do not change during the request
//   - optionals, and lists and maps of at most 256 parts
//
// Everything else is evaluated anew, such as checks of the authorizer and lists that a loop is
// appending to.
func Keep(v ref.Val) bool {
	parts := maxParts
	return keep(v, &parts)
}

func keep(v ref.Val, parts *int) bool {
	if *parts--; *parts < 0 {
		return false
	}
	switch v := v.(type) {
	case types.Bool, types.String, types.Int, types.Null, types.Double, types.Uint, types.Bytes, types.Duration, types.Timestamp, *types.Type:
		return true
	case apiservercel.Quantity, *apiservercel.Quantity, apiservercel.URL, apiservercel.IP, apiservercel.CIDR, apiservercel.Semver, apiservercel.Format, *apiservercel.Format:
		return true
	case *types.Optional:
		return !v.HasValue() || keep(v.GetValue(), parts)
	case traits.MutableLister, traits.MutableMapper:
		return false
	}
	if values.IsView(v) {
		return true
	}
	// Lists and maps of the CEL types list and map are kept if their parts may be. Those of other
	// types, such as 'variables', may evaluate their parts only when they are read.
	switch v.Type() {
	case types.ListType:
		l, ok := v.(traits.Lister)
		return ok && keepList(l, parts)
	case types.MapType:
		m, ok := v.(traits.Mapper)
		return ok && keepMap(m, parts)
	default:
		return false
	}
}

func keepList(l traits.Lister, parts *int) bool {
	size, ok := l.Size().(types.Int)
	if !ok || int64(size) > int64(*parts) {
		return false
	}
	for i := range size {
		if !keep(l.Get(i), parts) {
			return false
		}
	}
	return true
}

func keepMap(m traits.Mapper, parts *int) bool {
	size, ok := m.Size().(types.Int)
	if !ok || int64(size) > int64(*parts) {
		return false
	}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		if value, found := m.Find(key); !found || !keep(key, parts) || !keep(value, parts) {
			return false
		}
	}
	return true
}
