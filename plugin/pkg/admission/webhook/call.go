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
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	endpointsrequest "k8s.io/apiserver/pkg/endpoints/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"
)

// slow is how long a call may take before its trace is worth a log entry.
const slow = 500 * time.Millisecond

// Call asks a webhook about a request, passes its warnings and audit annotations on and,
// if it allows the request, goes on with then, as part of the same trace. When it does
// not, the error is a *webhookutil.ErrWebhookRejection; when it cannot be asked, or answers
// what makes no sense, it is a *webhookutil.ErrCallingWebhook, which is subject to the
// failurePolicy. Others mean that the request has to fail.
func (s *Step) Call(ctx context.Context, clients *webhookutil.ClientManager, invocation *generic.WebhookInvocation, a *admission.VersionedAttributes, then func(*request.AdmissionResponse, *tracing.Span) error) error {
	w := invocation.Webhook
	unreachable := func(err error, status *apierrors.StatusError) error {
		return &webhookutil.ErrCallingWebhook{WebhookName: w.GetName(), Reason: err, Status: status}
	}
	if a.IsDryRun() {
		switch effects := w.GetSideEffects(); {
		case effects == nil:
			status := apierrors.NewBadRequest("Webhook SideEffects is nil")
			return unreachable(errors.New(status.ErrStatus.Message), status)
		case *effects != v1.SideEffectClassNone && *effects != v1.SideEffectClassNoneOnDryRun:
			return webhookerrors.NewDryRunUnsupportedErr(w.GetName())
		}
	}
	uid, review, answer, err := request.CreateAdmissionObjects(a, invocation)
	if err != nil {
		return unreachable(fmt.Errorf("could not create admission objects: %w", err), apierrors.NewBadRequest("error creating admission objects"))
	}
	client, err := w.GetRESTClient(clients)
	if err != nil {
		return unreachable(fmt.Errorf("could not get REST client: %w", err), apierrors.NewInternalError(err))
	}

	ctx, span := tracing.Start(ctx, "Call "+s.name+" webhook",
		attribute.String("configuration", w.GetConfigurationName()),
		attribute.String("webhook", w.GetName()),
		attribute.Stringer("resource", a.GetResource()),
		attribute.String("subresource", a.GetSubresource()),
		attribute.String("operation", string(a.GetOperation())),
		attribute.String("UID", string(uid)))
	defer span.End(slow)
	if err := s.post(ctx, client, w, review, answer); err != nil {
		var status *apierrors.StatusError
		if known, ok := err.(*apierrors.StatusError); ok {
			status = known
		} else {
			status = apierrors.NewServiceUnavailable("error calling webhook")
		}
		return unreachable(fmt.Errorf("failed to call webhook: %w", err), status)
	}
	span.AddEvent("Request completed")

	response, err := request.VerifyAdmissionResponse(uid, s.patches, answer)
	if err != nil {
		return unreachable(fmt.Errorf("received invalid webhook response: %w", err), apierrors.NewServiceUnavailable("error validating webhook response"))
	}
	for key, value := range response.AuditAnnotations {
		Annotate(ctx, w, func() (string, error) {
			key := w.GetName() + "/" + key
			return key, a.Attributes.AddAnnotation(key, value)
		})
	}
	for _, text := range response.Warnings {
		warning.AddWarning(ctx, "", text)
	}
	if !response.Allowed {
		return &webhookutil.ErrWebhookRejection{Status: webhookerrors.ToStatusErr(w.GetName(), response.Result)}
	}
	return then(response, span)
}

// post sends the review within the webhook's timeout, of which the webhook is told.
func (s *Step) post(ctx context.Context, client *rest.RESTClient, w upstream.WebhookAccessor, review, answer runtime.Object) error {
	if seconds := w.GetTimeoutSeconds(); seconds != nil {
		limited, cancel := context.WithTimeout(ctx, time.Duration(*seconds)*time.Second)
		defer cancel()
		ctx = limited
	}
	post := client.Post().Body(review)
	if deadline, ok := ctx.Deadline(); ok {
		// The parameter is in whole seconds. Rounded down, the webhook could give up too early.
		if left := time.Until(deadline); left > 0 {
			post.Timeout((left + time.Second - 1).Truncate(time.Second))
		}
	}
	var err error
	send := func() { err = post.Do(ctx).Into(answer) }
	if trackers, ok := endpointsrequest.LatencyTrackersFrom(ctx); ok {
		s.tracker(trackers).Track(send)
	} else {
		send()
	}
	return err
}

// Annotate logs when an audit annotation of a webhook cannot be added.
func Annotate(ctx context.Context, w upstream.WebhookAccessor, add func() (key string, err error)) {
	if key, err := add(); err != nil {
		klog.FromContext(ctx).Error(err, "Audit annotation left out", "webhook", w.GetName(), "configuration", w.GetConfigurationName(), "key", key)
	}
}
