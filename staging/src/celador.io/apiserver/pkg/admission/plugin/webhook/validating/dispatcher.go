// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	"celador.io/admission/panics"

	"celador.io/apiserver/pkg/admission/plugin/webhook"
)

// dispatch calls all webhooks that match the request at the same time. If several reject it,
// dispatch returns the error of the first one in the order of webhooks.
func dispatch(ctx context.Context, p *webhook.Plugin, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error {
	calls, err := match(ctx, p, a, o, webhooks)
	if err != nil || len(calls) == 0 {
		return err
	}
	if interrupted := matching.Interrupted(ctx.Done()); interrupted != nil {
		return interrupted
	}

	rejections := make([]error, len(calls))
	var group sync.WaitGroup
	for i, c := range calls {
		group.Go(func() { rejections[i] = do(ctx, c) })
	}
	group.Wait()

	var first error
	for _, rejection := range rejections {
		switch {
		case rejection == nil:
		case first == nil:
			first = rejection
		default:
			utilruntime.HandleErrorWithContext(ctx, rejection, "More than one webhook rejects a request, and the client gets the error of the first")
		}
	}
	return first
}

// match returns the calls of the webhooks that match the request.
func match(ctx context.Context, p *webhook.Plugin, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) ([]*webhook.Call, error) {
	set := p.Set(webhooks)
	request := set.NewRequest(ctx, a, o, p.Config())
	defer request.Free()
	matcher := p.NewMatcher(ctx, a, request, set)
	var calls []*webhook.Call
	for _, candidate := range request.Candidates() {
		call, err := matcher.Match(candidate)
		if err != nil {
			return nil, err
		}
		if call == nil {
			continue
		}
		if call.Attributes, err = request.VersionedAttributes(call.Kind); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		call.Index = len(calls)
		calls = append(calls, call)
	}
	return calls, nil
}

// do calls a webhook and returns the error with which the request is rejected. failurePolicy
// applies to a panic as to other failures.
func do(ctx context.Context, c *webhook.Call) (rejection error) {
	// If the process is set to end at panics, HandleCrash panics again. A panic in a call fails
	// only the request.
	defer func() { _ = recover() }()
	defer utilruntime.HandleCrashWithContext(ctx, func(ctx context.Context, r any) {
		panics.Record(panics.Webhook, r, "webhook", c.GetName())
		if !c.FailsOpen() {
			rejection = apierrors.NewInternalError(fmt.Errorf("%s/%v has panicked: %v", PluginName, c.GetName(), r))
			return
		}
		klog.FromContext(ctx).Info("Panic while calling webhook, failing open", "webhook", c.GetName(), "panic", r)
		c.FailOpen(ctx)
	})
	_, rejection = c.Do(ctx, func(*request.AdmissionResponse, *tracing.Span) error { return nil })
	return rejection
}
