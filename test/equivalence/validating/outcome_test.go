// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/celador/test/equivalence/harness"
)

const (
	failuresAnnotation = "validation.policy.admission.k8s.io/validation_failure"
	maxFailures        = 50
)

// outcome holds the effects of a request that clients and administrators see.
type outcome struct {
	Error       string
	Status      metav1.Status // of the error
	Warnings    []string
	Annotations map[string]string // of the audit event
}

// examine calls a plugin as an API server does.
func examine(t *testing.T, plugin admission.ValidationInterface, r request) outcome {
	t.Helper()
	var warnings recorder
	ctx := audit.WithAuditContext(warning.WithWarningRecorder(t.Context(), &warnings))
	event := audit.AuditContextFrom(ctx)
	must(t, event.Init(audit.RequestAuditConfig{Level: auditinternal.LevelMetadata}, nil))
	ctx, cancel := r.Context(ctx)
	defer cancel()
	err := admission.WithAudit(plugin).(admission.ValidationInterface).Validate(ctx, r.Attributes(), harness.Interfaces)
	result := outcome{Warnings: warnings, Annotations: event.GetEventAnnotations()}
	if err != nil {
		result.Error = err.Error()
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		result.Status = status.ErrStatus
	}
	return result
}

// recorder implements warning.Recorder.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

// unordered returns the part of the outcome that does not depend on the order in which a plugin
// evaluates policies, bindings and params, and the error.
func (o outcome) unordered() outcome {
	o.Warnings = slices.Sorted(slices.Values(o.Warnings))
	annotations := map[string]string{}
	for key, value := range o.Annotations {
		if key != failuresAnnotation {
			annotations[key] = strings.Join(slices.Sorted(slices.Values(strings.Split(value, ", "))), ", ")
			continue
		}
		failures := o.failures()
		slices.Sort(failures)
		if len(failures) >= maxFailures {
			// Which failures the annotation omits depends on the order.
			failures = failures[:0]
		}
		annotations[key] = fmt.Sprintf("[%d,%s]", len(o.failures()), strings.Join(failures, ","))
		if len(failures) == 0 {
			annotations[key] = fmt.Sprintf("[%d]", len(o.failures()))
		}
	}
	o.Annotations = annotations
	return o
}

// failures returns the elements of the annotation that lists failures.
func (o outcome) failures() []string {
	var failures []json.RawMessage
	if err := json.Unmarshal([]byte(o.Annotations[failuresAnnotation]), &failures); err != nil {
		return []string{o.Annotations[failuresAnnotation]}
	}
	var result []string
	for _, failure := range failures {
		result = append(result, string(failure))
	}
	return result
}

// brief returns the outcome as examples list it: one line for the error and for each warning and
// annotation. It omits the names of the usual policy and binding.
func (o outcome) brief() []string {
	var result []string
	if o.Error != "" {
		how := "denied"
		if reason := o.Status.Reason; reason != metav1.StatusReasonInvalid || o.Status.Code != 422 {
			how = fmt.Sprintf("denied (%s %d)", reason, o.Status.Code)
		}
		result = append(result, how+o.source(o.Error, " denied request: "))
	}
	for _, text := range o.Warnings {
		result = append(result, "warned"+o.source(text, "': "))
	}
	for key, value := range o.Annotations {
		if key == failuresAnnotation {
			for _, f := range o.failures() {
				result = append(result, "audited "+f)
			}
			continue
		}
		result = append(result, "noted "+strings.TrimPrefix(key, usualPolicy+"/")+"="+value)
	}
	slices.Sort(result)
	return result
}

// source shortens the names in "'<policy>' with binding '<binding>'<separator>message".
func (o outcome) source(text, separator string) string {
	who, message, ok := strings.Cut(text, separator)
	if !ok {
		return ": " + text
	}
	who = strings.TrimSuffix(who, "'")
	if _, names, ok := strings.Cut(who, "ValidatingAdmissionPolicy '"); ok {
		policy, binding, bound := strings.Cut(names, "' with binding '")
		switch {
		case !bound && policy == usualPolicy:
			who = " by the policy"
		case !bound:
			who = " by the policy " + policy
		case policy == usualPolicy && binding == usualBinding:
			who = ""
		default:
			who = " by " + policy + " with " + binding
		}
	}
	return who + ": " + message
}
