// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policy"
)

// Result is what policies did with a request.
type Result struct {
	// Mutations are those that were made or that failed, in order.
	Mutations []Mutation
	// Failures are what speaks against the request, in order.
	Failures []Failure
	// Conditions has a report for each evaluation that match conditions ended.
	Conditions []ConditionReport
}

// Mutation is what became of one mutation of a policy.
type Mutation struct {
	// Policy and Binding are names.
	Policy, Binding string
	// Index is the position in spec.mutations.
	Index int
	// Round is 0, or 1 when the mutation was made again after others changed the object.
	Round int
	// Err is why the mutation could not be made.
	Err     error
	Elapsed time.Duration
	// Changed reports whether the mutation changed the object, by a deep comparison. It is set
	// only if Options.Changes is.
	Changed bool
	// Fields holds JSON pointers to the fields that the patch names, in the order of the patch
	// and at most MaxFields. It is nil unless Changed is set.
	Fields []string
}

// MaxFields is the maximum number of Fields of a mutation. Fields are kept until the request
// ends.
const MaxFields = 50

// compare sets Changed and Fields. A Mutation must not refer to the objects before and after
// it, because thousands of mutations may apply to a request.
func (m *Mutation) compare(before, after runtime.Object, fields func() []string) {
	if inJSON.DeepEqual(before, after) {
		return
	}
	m.Changed = true
	if fields != nil {
		named := fields()
		m.Fields = slices.Clone(named[:min(len(named), MaxFields)])
	}
}

// inJSON compares as same does, but for what an object loses on its way through JSON: the
// fractions of the seconds at which the server saw it.
var inJSON = func() conversion.Equalities {
	equalities := apiequality.Semantic.Copy()
	if err := equalities.AddFunc(func(a, b metav1.Time) bool { return a.Unix() == b.Unix() }); err != nil {
		panic(err) // not a function that compares
	}
	return equalities
}()

// Failure is why a policy speaks against a request.
type Failure struct {
	// Policy and Binding are names. Binding is empty when the policy could not be applied
	// through any.
	Policy, Binding string
	// Message is for the client.
	Message string
	// Reason is empty when the policy or binding could not be applied at all.
	Reason metav1.StatusReason
	// Stated is set when the mutation itself states the reason, or refuses the request.
	Stated bool
	// Ignored is set on failures that the policy's failurePolicy lets pass.
	Ignored bool
}

// ConditionReport says that match conditions ended the evaluation of a policy.
type ConditionReport = policy.ConditionReport
