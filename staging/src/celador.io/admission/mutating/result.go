// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/policy"
)

// Result is the result of applying the policies that match a request. Err and AuditAnnotations
// return the parts of an API server's response.
type Result struct {
	attributes admission.Attributes
	// Mutations holds the mutations that were applied or that failed, in order.
	Mutations []Mutation
	// Failures holds the reasons to reject the request, ignored ones among them, in order.
	Failures []Failure
	// Conditions has an entry for each time that match conditions ended the evaluation of a policy.
	Conditions []policy.ConditionReport
}

// Mutation describes a mutation that was applied or that failed.
type Mutation struct {
	// Policy and Binding are names. Binding is empty for a Singleton.
	Policy, Binding string
	// Index is the position of the mutation in spec.mutations.
	Index int
	// Run is 0 in the first run of mutating admission, and 1 in the second, which reinvokes
	// mutations because the object has changed since.
	Run int
	// Err is the cause of the failure. It wraps cel.ErrCompilation of k8s.io/apiserver if the
	// expression does not compile, and cel.ErrOutOfBudget if its cost budget is exceeded.
	Err error
	// Elapsed is the duration of the mutation, including the evaluation of its expressions.
	Elapsed time.Duration
	// Changed is set if the mutation changed the object, by a deep comparison, and Options.Changes
	// is set.
	Changed bool
	// Fields holds JSON pointers to the fields that the patch names, in the order of the patch
	// and at most MaxFields. It is nil unless Changed is set.
	Fields []string
}

// MaxFields is the maximum number of Fields of a mutation. Fields are kept until the request
// ends.
const MaxFields = 50

// compare sets Changed and Fields. It compares the objects right away, because a Mutation must not
// refer to them: thousands of mutations may apply to a request.
func (m *Mutation) compare(before, after runtime.Object, fields func() []string) {
	if jsonEquality.DeepEqual(before, after) {
		return
	}
	m.Changed = true
	if fields != nil {
		named := fields()
		m.Fields = slices.Clone(named[:min(len(named), MaxFields)])
	}
}

// jsonEquality compares objects like apiequality.Semantic, but ignores fractions of seconds, which
// metav1.Time loses when a patch encodes the object as JSON.
var jsonEquality = func() conversion.Equalities {
	equalities := apiequality.Semantic.Copy()
	// AddFunc returns an error only for a function of another form.
	_ = equalities.AddFunc(func(a, b metav1.Time) bool { return a.Unix() == b.Unix() })
	return equalities
}()

// Failure is a reason to reject a request.
type Failure struct {
	// Policy and Binding are names. Binding is empty for a Singleton, and if the policy could not
	// be applied through any binding.
	Policy, Binding string
	// Message is the text that the client reads.
	Message string
	// Reason is empty if the policy or binding could not be applied at all.
	Reason metav1.StatusReason
	// Stated is set if the policy gave the reason for the failure: the mutation has a reason, or
	// its expression refused the request.
	Stated bool
	// Refused is set if the expression of a mutation refused the request, which failurePolicy does
	// not ignore. Otherwise the policy could not be evaluated or applied.
	Refused bool
	// Ignored is set on failures that the policy's failurePolicy ignores.
	Ignored bool
}

// Err returns the API error with which the request must be rejected, or nil. Its message and reason
// are those of the first failure that is not ignored. The messages of all such failures are among
// its causes.
func (r Result) Err() error {
	var first *apierrors.StatusError
	for _, f := range r.Failures {
		if f.Ignored {
			continue
		}
		message := fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", f.Policy, f.Binding, f.Message)
		if f.Binding == "" {
			message = fmt.Sprintf("policy %q denied request: %s", f.Policy, f.Message)
		}
		if first == nil {
			denial, err := policy.NewDenial(r.attributes, errors.New("admission request denied by policy"), cmp.Or(f.Reason, metav1.StatusReasonForbidden))
			if err != nil {
				return err
			}
			denial.ErrStatus.Message = message
			if !f.Stated {
				denial.ErrStatus.Code = http.StatusForbidden
			}
			first = denial
		}
		first.ErrStatus.Details.Causes = append(first.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	}
	if first == nil {
		return nil
	}
	return first
}

// annotationPrefix is the prefix of the keys of audit annotations. A key ends with the run of
// mutating admission (Mutation.Run), called round, and with the position in Result.Mutations, such
// as "round_0_index_2".
const annotationPrefix = "mutation.policy.admission.celador.io/"

// AuditAnnotations returns the annotations of the request's audit event: one for each mutation that
// is Changed. It returns nil unless Options.Changes was set.
func (r Result) AuditAnnotations() []policy.Annotation {
	var annotations []policy.Annotation
	for i, m := range r.Mutations {
		if m.Err != nil || !m.Changed {
			continue
		}
		annotations = append(annotations, policy.NewJSONAnnotation(fmt.Sprintf("%sround_%d_index_%d", annotationPrefix, m.Run, i), struct {
			Policy   string   `json:"policy"`
			Binding  string   `json:"binding"`
			Mutation int      `json:"mutation"`
			Fields   []string `json:"fields,omitempty"`
		}{m.Policy, m.Binding, m.Index, m.Fields}))
	}
	return annotations
}

// Annotate adds AuditAnnotations to the audit event of a request.
func (r Result) Annotate(logger klog.Logger, a admission.Attributes) {
	policy.Annotate(logger, a, r.AuditAnnotations())
}
