// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"context"
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"

	"celador.io/admission/validating"

	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
)

// enforce acts on the engine's decisions: it warns, annotates the audit event, counts,
// and returns the first denial, if any.
func enforce(ctx context.Context, a admission.Attributes, result validating.Result) error {
	var denial *validating.Decision
	var audited []failure
	for objection := range result.Objections() {
		d := &objection
		if d.Ignored {
			observe(ctx, d, allow)
			ownMetrics.ObserveIgnored(ctx, d.Policy)
			klog.FromContext(ctx).V(2).Info("Admitted as failurePolicy is Ignore", "policy", d.Policy, "binding", d.Binding, "err", d.Message)
			continue
		}
		for _, action := range d.Actions {
			switch action {
			case v1.Deny:
				observe(ctx, d, deny)
				if denial == nil {
					denial = d
				}
			case v1.Warn:
				observe(ctx, d, warn)
				warning.AddWarning(ctx, "", fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", d.Policy, d.Binding, d.Message))
			case v1.Audit:
				observe(ctx, d, audit)
				audited = append(audited, failureOf(d))
			default:
				return fmt.Errorf("unrecognized validation action '%s' of ValidatingAdmissionPolicyBinding '%s' with ValidatingAdmissionPolicy '%s'", action, d.Binding, d.Policy)
			}
		}
	}
	for _, policy := range result.Ignored {
		ownMetrics.ObserveIgnored(ctx, policy)
	}
	policyplugin.ObserveConditions(ctx, a.GetOperation(), result.Conditions)
	annotate(ctx, a, result.Annotations, audited)
	if denial == nil {
		return nil
	}
	return denied(a, denial)
}

// denied returns the API error for a denial, with the reason that the validation
// states and the status code that goes with it.
func denied(a admission.Attributes, d *validating.Decision) error {
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.Policy, d.Binding, d.Message)
	if d.Binding == "" {
		message = fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.Policy, d.Message)
	}
	err := admission.NewForbidden(a, errors.New(message))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	reason := d.Reason
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	status.ErrStatus.Reason = reason
	status.ErrStatus.Code = policyplugin.StatusCode(reason)
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return status
}
