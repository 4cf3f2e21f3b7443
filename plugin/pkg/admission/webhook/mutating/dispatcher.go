// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/component-base/tracing"

	"celador.io/admission/matching"
	"celador.io/admission/reinvocation"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

// dispatcher asks the webhooks that a request concerns one after the other. Each sees what
// those before it made of the object.
type dispatcher struct {
	plugin  *webhook.Plugin
	clients *webhookutil.ClientManager
}

func newDispatcher(p *webhook.Plugin, clients *webhookutil.ClientManager) generic.Dispatcher {
	return &dispatcher{p, clients}
}

// Dispatch implements generic.Dispatcher.
func (d *dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error {
	if len(webhooks) == 0 {
		return nil
	}
	run := &run{
		dispatcher:   d,
		ctx:          ctx,
		evaluation:   webhook.WithEvaluation(ctx),
		attributes:   a,
		objects:      o,
		reinvocation: reinvocation.Of[string](a, PluginName),
	}
	if a.GetReinvocationContext().IsReinvoke() {
		run.round = 1
		run.reinvocation.Resume(a.GetObject())
	}
	defer func() {
		run.reinvocation.Suspend(a.GetObject())
		webhook.EndEvaluation(run.evaluation)
	}()
	for i, w := range webhooks {
		if err := run.webhook(i, w); err != nil {
			return err
		}
	}
	return run.writeBack()
}

// run is what one request goes through, once or a second time.
type run struct {
	*dispatcher
	ctx        context.Context
	evaluation context.Context
	attributes admission.Attributes
	objects    admission.ObjectInterfaces
	// request is what webhooks match. Nil when the object was changed.
	request *matching.Request
	// round is 1 when the plugins run a second time.
	round int
	// reinvocation has the UIDs of webhooks.
	reinvocation *reinvocation.State[string]
	// versioned has the object as the webhooks so far made it. Nil until one asks.
	versioned *admission.VersionedAttributes
}

// VersionedAttribute implements generic.VersionedAttributeAccessor. There is only one
// object, which is converted from kind to kind.
func (r *run) VersionedAttribute(kind schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	var err error
	if r.versioned == nil {
		r.versioned, err = admission.NewVersionedAttributes(r.attributes, kind, r.objects)
	} else {
		err = admission.ConvertVersionedAttributes(r.versioned, kind, r.objects)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return r.versioned, nil
}

// webhook asks a webhook if the request concerns it. The index is its place among all.
func (r *run) webhook(index int, w upstream.WebhookAccessor) error {
	if r.request == nil {
		current := r.attributes
		if r.versioned != nil {
			current = r.versioned
		}
		r.request = r.plugin.NewRequest(r.ctx, current, r.objects)
	}
	invocation, status := r.plugin.Choose(r.evaluation, w, r.request, r.objects, r)
	if status != nil {
		return status
	}
	if invocation == nil || r.round > 0 && !r.reinvocation.Due(w.GetUID()) {
		return nil
	}
	hook, ok := w.GetMutatingWebhook()
	if !ok {
		return fmt.Errorf("webhook %q is not a mutating webhook", w.GetName())
	}
	attributes, err := r.VersionedAttribute(invocation.Kind)
	if err != nil {
		return apierrors.NewInternalError(err)
	}

	start := time.Now()
	annotate := newAnnotator(w, attributes.Attributes, r.round, index)
	changed, err := r.call(invocation, attributes, annotate)
	refusal, failedOpen := webhook.Mutating.Conclude(r.ctx, w, attributes.Attributes, start, err)
	if failedOpen {
		annotate.failedOpen(r.ctx)
	}
	if changed {
		r.reinvocation.Changed()
		r.attributes.GetReinvocationContext().SetShouldReinvoke()
	}
	if hook.ReinvocationPolicy != nil && *hook.ReinvocationPolicy == v1.IfNeededReinvocationPolicy {
		r.reinvocation.Add(w.GetUID())
	}
	if refusal == nil && err != nil {
		if interrupted := matching.Interrupted(r.ctx.Done()); interrupted != nil {
			return interrupted
		}
	}
	return refusal
}

// call asks a webhook and says whether it changed the object.
func (r *run) call(invocation *generic.WebhookInvocation, a *admission.VersionedAttributes, annotate annotator) (changed bool, err error) {
	defer func() { annotate.mutated(r.ctx, changed) }()
	err = webhook.Mutating.Call(r.ctx, r.clients, invocation, a, func(response *request.AdmissionResponse, span *tracing.Span) error {
		name := invocation.Webhook.GetName()
		patch, err := decodePatch(name, response)
		if err != nil || len(patch) == 0 {
			return err
		}
		if changed, err = apply(name, patch, response, a, r.objects); err != nil {
			return err
		}
		r.request = nil
		// Converted back to a kind, a custom resource may be the same memory as before.
		webhook.EndEvaluation(r.evaluation)
		span.AddEvent("Patch applied")
		annotate.patched(r.ctx, patch)
		r.objects.GetObjectDefaulter().Default(a.VersionedObject.Object())
		return nil
	})
	return changed, err
}

// writeBack gives the request what webhooks made of its object.
func (r *run) writeBack() error {
	if r.versioned == nil || r.versioned.VersionedObject.Object() == nil || !r.versioned.Dirty {
		return nil
	}
	return r.objects.GetObjectConvertor().Convert(r.versioned.VersionedObject.Object(), r.attributes.GetObject(), nil)
}
