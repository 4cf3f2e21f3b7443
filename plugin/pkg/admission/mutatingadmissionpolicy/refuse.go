// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/mutating"

	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
)

// refuse returns the API error for failures that failurePolicy does not let pass, nil
// without any. Its message and reason are those of the first; all are among its causes.
func refuse(ctx context.Context, a admission.Attributes, failures []mutating.Failure) error {
	var status *apierrors.StatusError
	for _, f := range failures {
		if f.Ignored {
			ownMetrics.ObserveIgnored(ctx, f.Policy)
			klog.FromContext(ctx).V(2).Info("Admitted as failurePolicy is Ignore", "policy", f.Policy, "binding", f.Binding, "err", f.Message)
			continue
		}
		message := fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", f.Policy, f.Binding, f.Message)
		if f.Binding == "" {
			message = fmt.Sprintf("policy %q denied request: %s", f.Policy, f.Message)
		}
		if status == nil {
			forbidden := admission.NewForbidden(a, errors.New("admission request denied by policy"))
			if !errors.As(forbidden, &status) {
				return forbidden
			}
			status.ErrStatus.Message = message
			if f.Reason != "" {
				status.ErrStatus.Reason = f.Reason
			}
			if f.Stated {
				status.ErrStatus.Code = policyplugin.StatusCode(f.Reason)
			}
		}
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	}
	if status == nil {
		return nil
	}
	return status
}
