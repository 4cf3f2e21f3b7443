// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// errUndescribed is for types of another server that have no schema yet. This server learns
// about those some time after it learns of the other server, and nothing tells when.
var errUndescribed = errors.New("types of another server have no schema")

// ServedElsewhere has the policies checked that name the group version, because another
// server serves it, does so differently or does not any more. It does not block and is safe
// for concurrent use, before and after Run.
func (c *Controller) ServedElsewhere(version schema.GroupVersion) {
	c.elsewhere.Add(1)
	c.enqueueWhere(version.Group, func(p *policy) bool { return p.names(version) })
}

// undescribed tells whether another server serves types that have no schema.
func (o *outcome) undescribed() bool {
	return o.transient && slices.ContainsFunc(o.omitted, func(u typecheck.Unchecked) bool { return u.Reason == typecheck.NoSchema })
}

// changedElsewhere tells whether only a change of another server explains how an outcome
// differs from the one before. There are no generations to tell.
func (o *outcome) changedElsewhere(before *outcome) bool {
	if o.uid != before.uid || o.generation != before.generation {
		return false
	}
	return before.changed ||
		(o.transient || before.transient) && slices.Equal(o.defined(), before.defined()) && !o.saysSame(before)
}

// defined returns the custom resources that have a definition.
func (o *outcome) defined() []servedtypes.CustomResource {
	return slices.DeleteFunc(slices.Clone(o.resources), func(r servedtypes.CustomResource) bool { return !r.Exists() })
}

// saysSame tells whether two outcomes found the same, as far as a status says it.
func (o *outcome) saysSame(other *outcome) bool {
	return slices.Equal(o.warnings, other.warnings) && slices.EqualFunc(o.omitted, other.omitted, func(a, b typecheck.Unchecked) bool {
		return a.Field == b.Field && a.Reason == b.Reason && a.Err.Error() == b.Err.Error()
	})
}

// differs tells whether a status says something else than an outcome and the conditions
// made of it.
func differs(recorded *v1.ValidatingAdmissionPolicyStatus, o *outcome, conditions []metav1.Condition) bool {
	for _, condition := range conditions {
		before := meta.FindStatusCondition(recorded.Conditions, condition.Type)
		if before == nil || before.Status != condition.Status || before.Reason != condition.Reason || before.Message != condition.Message {
			return true
		}
	}
	return recorded.TypeChecking == nil || !slices.Equal(recorded.TypeChecking.ExpressionWarnings, o.warnings)
}
