// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

// contradictions adds an error if no response can match all fields of an expectation, so that the
// case could never pass.
func (l *loader) contradictions(path string, spec *Expectation) {
	rejects := spec.Decision == Denied || spec.Decision == Error || spec.Decision == Rejected
	inScope := spec.Policy != "" || spec.Binding != ""
	switch {
	case spec.Allowed == nil || spec.Decision == "":
	case *spec.Allowed && rejects:
		l.fail(path+".allowed", "contradicts decision: the server does not perform a request with the decision %s", spec.Decision)
	case !*spec.Allowed && !rejects && !inScope:
		l.fail(path+".allowed", "contradicts decision: the server performs a request with the decision %s. For the decision of one policy beside others, set policy", spec.Decision)
	}
	if spec.Violations == nil {
		return
	}
	described := spec.Validation != nil || spec.Message != "" || spec.MessagePattern != "" || spec.Reason != ""
	switch {
	case *spec.Violations > 0 && spec.Decision == NoMatch:
		l.fail(path+".violations", "contradicts decision: no policy applies, so none is violated")
	case *spec.Violations == 0 && (spec.Decision == Denied || spec.Decision == Error) && !described:
		l.fail(path+".violations", "contradicts decision: a request with the decision %s violates a validation or fails one", spec.Decision)
	}
}
