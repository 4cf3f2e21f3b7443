// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// policy is what is looked at of a policy, whatever its kind. It shares everything with the
// object in the cache, so it must not be changed.
type policy struct {
	*metav1.ObjectMeta
	kind             *Kind
	paramKind        *v1.ParamKind
	matchConstraints *v1.MatchResources
	typeChecking     *v1.TypeCheckingMode
	// status is of the kind that has had one first. The others have the same fields.
	status v1.ValidatingAdmissionPolicyStatus
	// check checks the expressions against types.
	check func(*typecheck.Checker) *typecheck.Result
	// compile returns what is wrong with the policy, whatever the types.
	compile func() []error
}

// key is what a policy is known by.
type key struct {
	kind *Kind
	name string
}

func (p *policy) key() key { return key{p.kind, p.Name} }

// enforced tells whether the policy may decide only if its expressions fit their types.
func (p *policy) enforced() bool {
	return p.kind.enforceTypes && p.typeChecking != nil && *p.typeChecking == v1.EnforcedTypeChecking
}
