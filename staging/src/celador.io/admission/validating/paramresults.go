// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/policy"
)

// paramResults holds the results of one policy for params. Params with equal values in all parts
// that the policy reads share a result. The zero value is ready for use.
type paramResults struct {
	// positions are the positions in results.
	positions map[paramParts]int
	results   []keptResult
	// buffer is the storage of the texts that are looked up.
	buffer []byte
}

// paramParts are the parts of a param that a policy reads, as paramparts.Parts.Of returns them.
type paramParts struct {
	scalar any
	text   string
}

type keptResult struct {
	paramResult
	// only is set if the result has a message that reads further parts of params. The result then
	// holds only for this param.
	only *unstructured.Unstructured
}

// of returns the result for a param, which is valid until the next call. If known is false, the
// caller must set it.
func (f *paramResults) of(param *unstructured.Unstructured, reads *policy.ParamReads) (found *keptResult, known bool) {
	scalar, text := reads.Of(param, f.buffer)
	if text != nil {
		f.buffer = text
	}
	if i, ok := f.positions[paramParts{scalar, string(text)}]; ok {
		found := &f.results[i]
		return found, found.only == nil || found.only == param
	}
	if f.positions == nil {
		f.positions = map[paramParts]int{}
	}
	f.positions[paramParts{scalar, string(text)}] = len(f.results)
	f.results = append(f.results, keptResult{})
	return &f.results[len(f.results)-1], false
}

// maxKept is the maximum number of results whose memory is reused.
const maxKept = 4096

// cleared returns results without elements with the memory of f.
func (f *paramResults) cleared() paramResults {
	switch {
	case len(f.results) == 0:
		return *f
	case len(f.results) > maxKept:
		return paramResults{}
	}
	clear(f.positions)
	clear(f.results)
	return paramResults{f.positions, f.results[:0], f.buffer}
}
