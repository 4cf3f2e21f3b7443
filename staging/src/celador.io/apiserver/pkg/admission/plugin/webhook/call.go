// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/apiserver/pkg/apis/audit"
	endpointsrequest "k8s.io/apiserver/pkg/endpoints/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"

	"celador.io/admission/warningtext"
)

// slow is the duration above which the trace of a webhook call is logged.
const slow = 500 * time.Millisecond

// A Call is the call of a webhook for a request.
type Call struct {
	generic.WebhookInvocation
	*Accessor
	plugin *Plugin
	// Attributes are the attributes of the request in the webhook's version.
	Attributes *admission.VersionedAttributes
	// Round and Index identify the call in audit annotations. Round is 0 in the first run of the
	// mutating plugins, and 1 when webhooks are reinvoked. Index is the position of the webhook.
	Round, Index int
}

// Allowed handles the response of a webhook that allows a request. It runs as part of the trace of
// the call. An error rejects the request, unless it is a Failure, to which failurePolicy applies.
type Allowed func(*request.AdmissionResponse, *tracing.Span) error

// Do calls the webhook, applies failurePolicy to errors, and records the call in metrics, logs and
// audit annotations. An error rejects the request. failed is set if the call has failed, even if
// failurePolicy ignores that.
func (c *Call) Do(ctx context.Context, allowed Allowed) (failed bool, rejection error) {
	start := time.Now()
	err := c.call(ctx, allowed)
	return err != nil, c.conclude(ctx, time.Since(start), err)
}

// Failure returns an error to which failurePolicy applies. The status is for metrics.
func (c *Call) Failure(reason error, status *apierrors.StatusError) error {
	return &webhookutil.ErrCallingWebhook{WebhookName: c.GetName(), Reason: reason, Status: status}
}

// call sends an AdmissionReview to the webhook, and adds the warnings and audit annotations of the
// response to the request.
//
// If the webhook cannot be called or its response is invalid, the error is a Failure. If the
// webhook rejects the request, the error is a *webhookutil.ErrWebhookRejection.
func (c *Call) call(ctx context.Context, allowed Allowed) error {
	name, a := c.GetName(), c.Attributes
	if a.IsDryRun() {
		switch effects := c.GetSideEffects(); {
		case effects == nil:
			status := apierrors.NewBadRequest("Webhook SideEffects is nil")
			return c.Failure(errors.New(status.ErrStatus.Message), status)
		case *effects != v1.SideEffectClassNone && *effects != v1.SideEffectClassNoneOnDryRun:
			return webhookerrors.NewDryRunUnsupportedErr(name)
		}
	}
	uid, review, answer, err := request.CreateAdmissionObjects(a, &c.WebhookInvocation)
	if err != nil {
		return c.Failure(fmt.Errorf("could not create admission objects: %w", err), apierrors.NewBadRequest("error creating admission objects"))
	}
	client, err := c.GetRESTClient(c.plugin.clients)
	if err != nil {
		return c.Failure(fmt.Errorf("could not get REST client: %w", err), apierrors.NewInternalError(err))
	}

	ctx, span := tracing.Start(ctx, "Call "+c.plugin.descriptor.name+" webhook",
		attribute.String("configuration", c.GetConfigurationName()),
		attribute.String("webhook", name),
		attribute.Stringer("resource", a.GetResource()),
		attribute.String("subresource", a.GetSubresource()),
		attribute.String("operation", string(a.GetOperation())),
		attribute.String("UID", string(uid)))
	defer span.End(slow)
	if err := c.post(ctx, client, review, answer); err != nil {
		status, ok := err.(*apierrors.StatusError)
		if !ok {
			status = apierrors.NewServiceUnavailable("error calling webhook")
		}
		return c.Failure(fmt.Errorf("failed to call webhook: %w", err), status)
	}
	span.AddEvent("Request completed")

	response, err := request.VerifyAdmissionResponse(uid, c.plugin.descriptor.patches, answer)
	if err != nil {
		return c.Failure(fmt.Errorf("received invalid webhook response: %w", err), apierrors.NewServiceUnavailable("error validating webhook response"))
	}
	for key, value := range response.AuditAnnotations {
		c.annotate(ctx, name+"/"+key, value, audit.LevelMetadata)
	}
	for _, text := range response.Warnings {
		warning.AddWarning(ctx, "", warningtext.Of(text))
	}
	if !response.Allowed {
		return &webhookutil.ErrWebhookRejection{Status: webhookerrors.ToStatusErr(name, response.Result)}
	}
	return allowed(response, span)
}

// post sends the review. The webhook's timeout limits the time. A query parameter tells the webhook
// how much time it has.
func (c *Call) post(ctx context.Context, client *rest.RESTClient, review, answer runtime.Object) error {
	if seconds := c.GetTimeoutSeconds(); seconds != nil {
		limited, cancel := context.WithTimeout(ctx, time.Duration(*seconds)*time.Second)
		defer cancel()
		ctx = limited
	}
	post := client.Post().Body(review)
	if deadline, ok := ctx.Deadline(); ok {
		// The parameter is in whole seconds. If it were rounded down, the webhook could give up too
		// early.
		if left := time.Until(deadline); left > 0 {
			post.Timeout((left + time.Second - 1).Truncate(time.Second))
		}
	}
	var err error
	send := func() { err = post.Do(ctx).Into(answer) }
	if trackers, ok := endpointsrequest.LatencyTrackersFrom(ctx); ok {
		c.plugin.descriptor.tracker(trackers).Track(send)
	} else {
		send()
	}
	return err
}

// conclude records the end of a call in metrics and logs, and applies failurePolicy to its error.
// It returns the error with which the request is rejected, or nil.
func (c *Call) conclude(ctx context.Context, elapsed time.Duration, err error) error {
	name, metric, a := c.GetName(), c.plugin.descriptor.metric, c.Attributes.Attributes
	logger := klog.FromContext(ctx).WithValues("webhook", name, "configuration", c.GetConfigurationName())
	observe := func(rejected bool, code int) {
		metrics.Metrics.ObserveWebhook(ctx, name, elapsed, rejected, a, metric, code)
	}
	reject := func(cause metrics.WebhookRejectionErrorType, code int) {
		metrics.Metrics.ObserveWebhookRejection(ctx, name, metric, string(a.GetOperation()), cause, code)
	}
	switch err := err.(type) {
	case nil:
		observe(false, 200)
		return nil
	case *webhookutil.ErrCallingWebhook:
		code := int(err.Status.ErrStatus.Code)
		canceled := errors.Is(err.Reason, context.Canceled)
		if !c.FailsOpen() {
			if !canceled {
				reject(metrics.WebhookRejectionCallingWebhookError, code)
			}
			observe(true, code)
			logger.Info("Webhook could not be called, failing closed", "err", err)
			return apierrors.NewInternalError(err)
		}
		observe(false, code)
		if canceled {
			logger.Info("Request was canceled while a webhook was called")
		} else {
			logger.Info("Webhook could not be called, failing open", "err", err)
			c.FailOpen(ctx)
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Calling webhook", "webhook", name)
		return nil
	case *webhookutil.ErrWebhookRejection:
		code := int(err.Status.ErrStatus.Code)
		reject(metrics.WebhookRejectionNoError, code)
		observe(true, code)
		logger.Info("Request rejected by webhook", "err", err.Status)
		return err.Status
	default:
		reject(metrics.WebhookRejectionAPIServerInternalError, 0)
		observe(true, 0)
		logger.Info("Webhook failed, failing closed", "err", err)
		return err
	}
}

// FailOpen records that failurePolicy ignores the failure of the call.
func (c *Call) FailOpen(ctx context.Context) {
	metrics.Metrics.ObserveWebhookFailOpen(ctx, c.GetName(), c.plugin.descriptor.metric)
	c.Annotate(ctx, c.plugin.descriptor.failedOpen, c.GetName(), audit.LevelMetadata)
}

// Annotate adds an audit annotation about the call.
func (c *Call) Annotate(ctx context.Context, prefix, value string, level audit.Level) {
	c.annotate(ctx, fmt.Sprintf("%sround_%d_index_%d", prefix, c.Round, c.Index), value, level)
}

func (c *Call) annotate(ctx context.Context, key, value string, level audit.Level) {
	if err := c.Attributes.Attributes.AddAnnotationWithLevel(key, value, level); err != nil {
		klog.FromContext(ctx).Error(err, "Audit annotation left out", "webhook", c.GetName(), "configuration", c.GetConfigurationName(), "key", key)
	}
}
