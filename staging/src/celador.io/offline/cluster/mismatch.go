// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

// findMismatches records, for each binding of the policies of a kind, why its policy does not apply
// to the request through this binding. The engines decide the same, but report only the policies
// that apply.
func (r *results) findMismatches(ctx context.Context, kind string, a admission.Attributes, objects admission.ObjectInterfaces) {
	request := matching.NewRequest(ctx, a, objects, namespaces{})
	all := r.policies.described
	// regular holds the policies that apply through a binding that is not a fallback.
	regular := map[string]bool{}
	for i := range all {
		d := &all[i]
		if d.kind != kind {
			continue
		}
		delete(r.mismatches, i)
		if reason := r.policies.mismatch(ctx, d, request); reason != "" {
			r.mismatches[i] = reason
		} else if !d.fallback {
			regular[d.policy] = true
		}
	}
	for i := range all {
		if d := &all[i]; d.kind == kind && d.fallback && regular[d.policy] && r.mismatches[i] == "" {
			r.mismatches[i] = "the binding is a fallback and another one applies"
		}
	}
}

// mismatch returns why the policy does not apply to a request through the binding, or an empty
// string. It does not consider other bindings.
func (s *policySet) mismatch(ctx context.Context, d *described, request *matching.Request) string {
	if reason := s.exemption(request.GetResource().GroupResource()); reason != "" {
		return reason
	}
	if d.kind == MutatingKind && request.GetOperation() == admission.Delete {
		return "mutating policies do not apply to deletions"
	}
	if d.criteria != nil {
		if reason := d.criteria.Mismatch(request); reason != "" {
			return "matchConstraints: " + reason
		}
	}
	if d.binding == "" && !d.singleton {
		return "the policy has no binding"
	}
	if d.bindingCriteria != nil {
		if reason := d.bindingCriteria.Mismatch(request); reason != "" {
			return "matchResources of the binding: " + reason
		}
	}
	if s.lacksParams(ctx, d, request) {
		return "paramRef of the binding selects no object"
	}
	return ""
}

// lacksParams reports whether the binding has a paramRef that selects no object, so that the policy
// does not apply. It is false if the params cannot be looked up, or with parameterNotFoundAction
// Deny: such a policy applies, and fails.
func (s *policySet) lacksParams(ctx context.Context, d *described, request *matching.Request) bool {
	if d.paramKind == nil || d.params == nil {
		return false
	}
	lister, err := s.params.Open(schema.FromAPIVersionAndKind(d.paramKind.APIVersion, d.paramKind.Kind)).Lister(ctx)
	if err != nil {
		return false
	}
	found, err := d.params.Find(ctx, lister, d.paramKind, request.GetNamespace())
	return err == nil && len(found) == 0
}
