// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/warningtext"
)

// Result is the result of evaluating the policies that match a request. Err, Warnings and
// AuditAnnotations return the parts of an API server's response.
type Result struct {
	attributes admission.Attributes
	// memory is the evaluation that owns the slices, and that Free returns to other requests. It is
	// nil if there was nothing to evaluate.
	memory *evaluation
	// byBinding describes the consecutive parts of Violations: one for each policy, binding and
	// param, and one for each failure that addFailure added.
	byBinding []bindingDecisions
	// Violations holds the decisions that are Denied or Failed, ignored failures among them, in the
	// order of policy name, binding name and validation.
	Violations []Decision
	// Annotations holds the audit annotations of the policies, in the order of policy name and
	// spec.auditAnnotations.
	Annotations []policy.Annotation
	// Conditions has an entry for each binding and param with which match conditions ended the
	// evaluation of a policy.
	Conditions []policy.ConditionReport
	// Ignored holds the policy name of each failure of match conditions or of an audit annotation
	// that the policy's failurePolicy ignores.
	Ignored []string
}

// Outcome is the outcome of a validation.
type Outcome = policy.Outcome

const (
	// Admitted means that the validation is satisfied.
	Admitted = policy.Admitted
	// Denied means that the validation is not satisfied.
	Denied = policy.Denied
	// Failed means that the validation, or the policy as a whole, could not be evaluated.
	Failed = policy.Failed
)

// Decision is what one validation of a policy decides about a request, through one binding and with
// one param. If Index is -1, it is a failure that belongs to no single validation.
type Decision struct {
	// Policy and Binding are names. Binding is empty for a Singleton, and if the policy could not
	// be applied through any binding.
	Policy, Binding string
	// Actions are the binding's validationActions. They must not be changed.
	Actions []v1.ValidationAction
	// Index is the position of the validation in spec.validations. It is -1 if the decision is not
	// of one validation: a match condition or an audit annotation failed, the policy exceeded its
	// cost budget, or Misconfigured is set.
	Index   int
	Outcome Outcome
	// Misconfigured is set if the policy or the binding could not be applied at all. The outcome is
	// then Failed.
	Misconfigured bool
	// Ignored is set on failures that the failurePolicy ignores.
	Ignored bool
	// Message is the text that the client reads. It is empty for Admitted.
	Message string
	// Err is the cause of Failed. It wraps cel.ErrCompilation of k8s.io/apiserver
	// if an expression does not compile, and cel.ErrOutOfBudget if the cost budget is exceeded.
	Err error
	// Reason is the validation's reason, for Denied.
	Reason metav1.StatusReason
	// Field is the path of the field that the validation is about, such as spec.replicas: its
	// fieldPath or, with a scope, the path of the first value for which it is not satisfied or
	// could not be evaluated, cut off after 1024 bytes. It is empty if the policy names none.
	Field string
	// Elapsed is the latency that Kubernetes' metrics report for the decision: the time from the
	// policy's previous decision in Violations, or from its first validation, to this one.
	// Evaluating messages does not count. It is 0 for Admitted.
	Elapsed time.Duration
}

// bindingDecisions describes the decisions of a policy through a binding. Result stores only
// decisions that are not Admitted, because almost all are Admitted, and Decisions derives the
// others from the counts.
type bindingDecisions struct {
	// policy and binding are nil if the decision belongs to no validation; see addFailure.
	policy  *policy.Policy[Body]
	binding *policy.Binding
	// validations is the number of validations that were evaluated, and violations the number of
	// decisions in Result.Violations.
	validations, violations int
}

// add adds the decisions of a policy through a binding.
func (r *Result) add(p *policy.Policy[Body], b *policy.Binding, found *paramResult) {
	if found.validations == 0 && len(found.violations) == 0 {
		return
	}
	r.byBinding = append(r.byBinding, bindingDecisions{p, b, found.validations, len(found.violations)})
	for i := range found.violations {
		r.Violations = append(r.Violations, found.violations[i])
		d := &r.Violations[len(r.Violations)-1]
		d.Policy, d.Binding, d.Actions = p.Name, b.Name(), b.Actions()
	}
}

// addFailure adds a decision that belongs to no validation: a policy that could not be applied, or
// an audit annotation that could not be evaluated.
func (r *Result) addFailure(d Decision) {
	d.Index = -1
	r.byBinding = append(r.byBinding, bindingDecisions{violations: 1})
	r.Violations = append(r.Violations, d)
}

// cleared returns an empty result that reuses the slices of r.
func (r *Result) cleared() Result {
	clear(r.byBinding)
	clear(r.Violations)
	clear(r.Annotations)
	clear(r.Conditions)
	clear(r.Ignored)
	return Result{
		byBinding: r.byBinding[:0], Violations: r.Violations[:0],
		Annotations: r.Annotations[:0], Conditions: r.Conditions[:0], Ignored: r.Ignored[:0],
	}
}

// Free makes the memory of the result available to other requests. Neither the result nor its
// slices may be used afterwards. Results that are not freed are left to the garbage collector.
func (r Result) Free() {
	if r.memory != nil {
		r.memory.free()
	}
}

// Decisions returns all decisions in the order of policy name, binding name and validation.
func (r Result) Decisions() []Decision {
	var all []Decision
	violations := r.Violations
	for i := range r.byBinding {
		a := &r.byBinding[i]
		own := violations[:a.violations]
		violations = violations[a.violations:]
		for index := range a.validations {
			if len(own) > 0 && own[0].Index == index {
				all, own = append(all, own[0]), own[1:]
				continue
			}
			all = append(all, Decision{Policy: a.policy.Name, Binding: a.binding.Name(), Actions: a.binding.Actions(), Index: index, Outcome: Admitted})
		}
		all = append(all, own...)
	}
	return all
}

// Err returns the API error with which the request must be rejected, or nil. The error has the
// message of the first decision that denies the request, and the reason and status code of its
// validation. Its causes are that message, or with the feature Causes the messages and fields of
// all decisions that deny the request. Err also returns an error for an unknown validationAction.
func (r Result) Err() error {
	var denial *Decision
	for i := range r.Violations {
		d := &r.Violations[i]
		if d.Ignored {
			continue
		}
		for _, action := range d.Actions {
			switch action {
			case v1.Deny:
				if denial == nil {
					denial = d
				}
			case v1.Warn, v1.Audit:
			default:
				return fmt.Errorf("unrecognized validation action '%s' of ValidatingAdmissionPolicyBinding '%s' with ValidatingAdmissionPolicy '%s'", action, d.Binding, d.Policy)
			}
		}
	}
	if denial == nil {
		return nil
	}
	message := denial.text()
	status, err := policy.NewDenial(r.attributes, errors.New(message), denial.Reason)
	if err != nil {
		return err
	}
	causes := []metav1.StatusCause{{Message: message}}
	if r.memory.engine.Features[policyspec.Causes] {
		causes = causesOf(r.enforced(v1.Deny))
	}
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, causes...)
	return status
}

// text returns the message of a denial with the names of its policy and binding.
func (d *Decision) text() string {
	if d.Binding == "" {
		return fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.Policy, d.Message)
	}
	return fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.Policy, d.Binding, d.Message)
}

const (
	// maxCauses limits the denials among the causes of a response, and maxCausesText the bytes of
	// their messages and fields. Responses and audit events contain the causes, and a policy with
	// long messages may deny a request thousands of times, once for each param and validation.
	maxCauses     = 50
	maxCausesText = 64 << 10
)

// causesOf returns a cause for each denial, in order. If there are too many, or if they are too
// long, it leaves out the rest, and the last cause says how many. The first denial always has its
// cause.
func causesOf(denials []*Decision) []metav1.StatusCause {
	var causes []metav1.StatusCause
	size := 0
	for i, d := range denials {
		cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: d.text(), Field: d.Field}
		size += len(cause.Message) + len(cause.Field)
		if i == maxCauses || i > 0 && size > maxCausesText {
			return append(causes, metav1.StatusCause{Message: fmt.Sprintf("%d more denials are left out", len(denials)-i)})
		}
		causes = append(causes, cause)
	}
	return causes
}

// enforced returns the decisions that are not ignored and for which the binding has the action.
func (r Result) enforced(action v1.ValidationAction) []*Decision {
	var found []*Decision
	for i := range r.Violations {
		if d := &r.Violations[i]; !d.Ignored && slices.Contains(d.Actions, action) {
			found = append(found, d)
		}
	}
	return found
}

// Warnings returns the warnings for the client, as Warning headers can carry them.
func (r Result) Warnings() []string {
	var warnings []string
	for _, d := range r.enforced(v1.Warn) {
		warnings = append(warnings, warningtext.Of(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", d.Policy, d.Binding, d.Message)))
	}
	return warnings
}

const (
	failuresAnnotation = "validation.policy.admission.k8s.io/validation_failure"
	// maxFailures bounds the number of failures in the annotation, and so its size to about 10 kB.
	maxFailures = 50
)

// failure is an element of the audit annotation that lists failures. Its fields have Kubernetes'
// names.
type failure struct {
	Message           string                `json:"message"`
	Policy            string                `json:"policy"`
	Binding           string                `json:"binding"`
	ExpressionIndex   int                   `json:"expressionIndex"`
	ValidationActions []v1.ValidationAction `json:"validationActions"`
}

// AuditAnnotations returns the annotations of the request's audit event: Annotations, and one that
// lists the decisions with action Audit. omitted is the number of decisions that the list leaves
// out, because it has at most 50.
func (r Result) AuditAnnotations() (annotations []policy.Annotation, omitted int) {
	audited := r.enforced(v1.Audit)
	if len(audited) == 0 {
		return r.Annotations, 0
	}
	omitted = max(0, len(audited)-maxFailures)
	var failures []failure
	for _, d := range audited[:len(audited)-omitted] {
		// Kubernetes has the index 0 for decisions without a validation.
		failures = append(failures, failure{d.Message, d.Policy, d.Binding, max(d.Index, 0), d.Actions})
	}
	return append(slices.Clip(r.Annotations), policy.NewJSONAnnotation(failuresAnnotation, failures)), omitted
}

// Annotate adds AuditAnnotations to the audit event of a request.
func (r Result) Annotate(logger klog.Logger, a admission.Attributes) {
	annotations, omitted := r.AuditAnnotations()
	if omitted > 0 {
		logger.Info("Audit annotation leaves failures out", "resource", a.GetResource(), "omitted", omitted)
	}
	policy.Annotate(logger, a, annotations)
}

// annotations collects the values of one policy's audit annotations. Bindings and params may give
// several distinct values for a key.
type annotations struct {
	keys   []string
	values map[string][]string
}

func (a *annotations) add(key, value string) {
	if a.values == nil {
		a.values = map[string][]string{}
	}
	if !slices.Contains(a.keys, key) {
		a.keys = append(a.keys, key)
	}
	if !slices.Contains(a.values[key], value) {
		a.values[key] = append(a.values[key], value)
	}
}

func (a *annotations) named(policyName string) []policy.Annotation {
	var result []policy.Annotation
	for _, key := range a.keys {
		result = append(result, policy.Annotation{Key: policyName + "/" + key, Value: strings.Join(a.values[key], ", ")})
	}
	return result
}
