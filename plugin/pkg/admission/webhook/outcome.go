// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/klog/v2"
)

// FailsOpen says whether requests pass that a webhook cannot be asked about.
func FailsOpen(w upstream.WebhookAccessor) bool {
	policy := w.GetFailurePolicy()
	return policy != nil && *policy == v1.Ignore
}

// Conclude turns the error of a call into what the client is told, and records both. It
// returns nil for one that the failurePolicy lets pass; failedOpen then says whether that is
// to be in the audit log.
func (s *Step) Conclude(ctx context.Context, w upstream.WebhookAccessor, a admission.Attributes, start time.Time, err error) (refusal error, failedOpen bool) {
	name, operation, elapsed := w.GetName(), string(a.GetOperation()), time.Since(start)
	logger := klog.FromContext(ctx).WithValues("webhook", name, "configuration", w.GetConfigurationName())
	observe := func(rejected bool, code int) {
		metrics.Metrics.ObserveWebhook(ctx, name, elapsed, rejected, a, s.metric, code)
	}
	reject := func(because metrics.WebhookRejectionErrorType, code int) {
		metrics.Metrics.ObserveWebhookRejection(ctx, name, s.metric, operation, because, code)
	}
	switch err := err.(type) {
	case nil:
		observe(false, 200)
		return nil, false
	case *webhookutil.ErrCallingWebhook:
		code := int(err.Status.ErrStatus.Code)
		canceled := errors.Is(err.Reason, context.Canceled)
		if !FailsOpen(w) {
			if !canceled {
				reject(metrics.WebhookRejectionCallingWebhookError, code)
			}
			observe(true, code)
			logger.Info("Webhook could not be called, failing closed", "err", err)
			return apierrors.NewInternalError(err), false
		}
		observe(false, code)
		if canceled {
			logger.Info("Request was canceled while a webhook was called")
		} else {
			metrics.Metrics.ObserveWebhookFailOpen(ctx, name, s.metric)
			logger.Info("Webhook could not be called, failing open", "err", err)
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Calling webhook", "webhook", name)
		return nil, !canceled
	case *webhookutil.ErrWebhookRejection:
		code := int(err.Status.ErrStatus.Code)
		reject(metrics.WebhookRejectionNoError, code)
		observe(true, code)
		logger.Info("Request rejected by webhook", "err", err.Status)
		return err.Status, false
	default:
		reject(metrics.WebhookRejectionAPIServerInternalError, 0)
		observe(true, 0)
		logger.Info("Webhook failed, failing closed", "err", err)
		return err, false
	}
}
