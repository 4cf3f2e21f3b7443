// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	upstreamvalidating "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

// dispatcher asks all webhooks that a request concerns at the same time.
type dispatcher struct {
	plugin  *webhook.Plugin
	clients *webhookutil.ClientManager
}

func newDispatcher(p *webhook.Plugin, clients *webhookutil.ClientManager) generic.Dispatcher {
	return &dispatcher{p, clients}
}

// Dispatch implements generic.Dispatcher. Of several errors, it returns that of the first
// webhook.
func (d *dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error {
	calls, err := d.choose(ctx, a, o, webhooks)
	if err != nil || len(calls) == 0 {
		return err
	}
	if interrupted := matching.Interrupted(ctx.Done()); interrupted != nil {
		return interrupted
	}

	refusals := make([]error, len(calls))
	var group sync.WaitGroup
	for i, c := range calls {
		group.Go(func() { refusals[i] = d.call(ctx, i, c) })
	}
	group.Wait()

	var first error
	for _, refusal := range refusals {
		switch {
		case refusal == nil:
		case first == nil:
			first = refusal
		default:
			utilruntime.HandleErrorWithContext(ctx, refusal, "More than one webhook refuses a request, of which the client is told the first")
		}
	}
	return first
}

// call is a webhook that has to be asked.
type call struct {
	*generic.WebhookInvocation
	attributes *admission.VersionedAttributes
}

func (d *dispatcher) choose(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) ([]call, error) {
	if len(webhooks) == 0 {
		return nil, nil
	}
	ctx = webhook.WithEvaluation(ctx)
	defer webhook.EndEvaluation(ctx)
	versions := &versions{attributes: a, objects: o}
	request := d.plugin.NewRequest(ctx, a, o)
	var calls []call
	for _, w := range webhooks {
		invocation, status := d.plugin.Choose(ctx, w, request, o, versions)
		if status != nil {
			return nil, status
		}
		if invocation == nil {
			continue
		}
		attributes, err := versions.VersionedAttribute(invocation.Kind)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		calls = append(calls, call{invocation, attributes})
	}
	return calls, nil
}

// call returns why the request is refused, nil if it is not.
func (d *dispatcher) call(ctx context.Context, index int, c call) (refusal error) {
	// Where a panic is to end the process, HandleCrash panics again. That of a single call
	// is not to: the request fails.
	defer func() { _ = recover() }()
	defer utilruntime.HandleCrashWithContext(ctx, func(ctx context.Context, r any) { refusal = d.panicked(ctx, index, c, r) })

	start := time.Now()
	err := webhook.Validating.Call(ctx, d.clients, c.WebhookInvocation, c.attributes, allow)
	refusal, failedOpen := webhook.Validating.Conclude(ctx, c.Webhook, c.attributes.Attributes, start, err)
	if failedOpen {
		annotateFailedOpen(ctx, index, c)
	}
	return refusal
}

func allow(*request.AdmissionResponse, *tracing.Span) error { return nil }

func (d *dispatcher) panicked(ctx context.Context, index int, c call, r any) error {
	name := c.Webhook.GetName()
	if !webhook.FailsOpen(c.Webhook) {
		return apierrors.NewInternalError(fmt.Errorf("%s/%v has panicked: %v", PluginName, name, r))
	}
	klog.FromContext(ctx).Info("Panic while calling webhook, failing open", "webhook", name, "panic", r)
	metrics.Metrics.ObserveWebhookFailOpen(ctx, name, "validating")
	annotateFailedOpen(ctx, index, c)
	return nil
}

func annotateFailedOpen(ctx context.Context, index int, c call) {
	webhook.Annotate(ctx, c.Webhook, func() (string, error) {
		key := fmt.Sprintf("%sround_0_index_%d", upstreamvalidating.ValidatingAuditAnnotationFailedOpenKeyPrefix, index)
		return key, c.attributes.Attributes.AddAnnotation(key, c.Webhook.GetName())
	})
}

// versions has a request with its objects in the kinds that webhooks ask for, which are few.
type versions struct {
	attributes admission.Attributes
	objects    admission.ObjectInterfaces
	made       []*admission.VersionedAttributes
}

// VersionedAttribute implements generic.VersionedAttributeAccessor.
func (v *versions) VersionedAttribute(kind schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	for _, made := range v.made {
		if made.VersionedKind == kind {
			return made, nil
		}
	}
	made, err := admission.NewVersionedAttributes(v.attributes, kind, v.objects)
	if err == nil {
		v.made = append(v.made, made)
	}
	return made, err
}
