// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/policy"
)

// paramFindings holds the findings of one policy for params. Params with equal values in all parts that the policy reads
// share a finding. The zero value is ready for use.
type paramFindings struct {
	// positions are the positions in findings.
	positions map[paramParts]int
	findings  []paramFinding
	// buffer is the storage of the texts that are looked up.
	buffer []byte
}

// paramParts are the parts of a param that a policy reads, as paramparts.Parts.Of returns them.
type paramParts struct {
	scalar any
	text   string
}

type paramFinding struct {
	finding
	// only is set if the finding has a message that reads further parts of params. The finding then holds only for
	// this param.
	only *unstructured.Unstructured
}

// of returns the finding for a param, which is valid until the next call. If known is false, the caller must set it.
func (f *paramFindings) of(param *unstructured.Unstructured, reads *policy.ParamReads) (found *paramFinding, known bool) {
	scalar, text := reads.Of(param, f.buffer)
	if text != nil {
		f.buffer = text
	}
	if i, ok := f.positions[paramParts{scalar, string(text)}]; ok {
		found := &f.findings[i]
		return found, found.only == nil || found.only == param
	}
	if f.positions == nil {
		f.positions = map[paramParts]int{}
	}
	f.positions[paramParts{scalar, string(text)}] = len(f.findings)
	f.findings = append(f.findings, paramFinding{})
	return &f.findings[len(f.findings)-1], false
}

// maxKept is the maximum number of findings whose memory is reused.
const maxKept = 4096

// cleared returns findings without elements with the memory of f.
func (f *paramFindings) cleared() paramFindings {
	switch {
	case len(f.findings) == 0:
		return *f
	case len(f.findings) > maxKept:
		return paramFindings{}
	}
	clear(f.positions)
	clear(f.findings)
	return paramFindings{f.positions, f.findings[:0], f.buffer}
}
