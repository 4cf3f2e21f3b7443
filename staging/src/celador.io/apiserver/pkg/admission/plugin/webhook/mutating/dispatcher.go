// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	upstreammutating "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	engine "celador.io/admission/webhook"

	"celador.io/apiserver/pkg/admission/plugin/webhook"
)

// dispatch calls the webhooks that match the request, one after the other. Each gets the object
// with the patches of those before it.
func dispatch(ctx context.Context, p *webhook.Plugin, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error {
	set := p.Set(webhooks)
	mutation := set.NewMutatingRequest(ctx, a, o, p.Config(), PluginName)
	d := &dispatcher{ctx: ctx, mutation: mutation, matcher: p.NewMatcher(ctx, a, &mutation.Request, set)}
	if a.GetReinvocationContext().IsReinvoke() {
		d.round = 1
	}
	defer d.mutation.Free()
	defer d.mutation.End()
	for _, candidate := range mutation.Candidates() {
		if err := d.invoke(candidate); err != nil {
			return err
		}
	}
	return d.mutation.WriteBack()
}

// dispatcher calls webhooks for one request.
type dispatcher struct {
	ctx      context.Context
	mutation *engine.MutatingRequest
	matcher  *webhook.Matcher
	// round is 1 if admission was reinvoked, and otherwise 0.
	round int
}

// invoke calls a webhook if it matches the request. An error rejects the request.
func (d *dispatcher) invoke(candidate matching.Candidate) error {
	call, err := d.matcher.Match(candidate)
	if err != nil || call == nil || !d.mutation.Due(call.GetUID()) {
		return err
	}
	if call.Attributes, err = d.mutation.VersionedAttributes(call.Kind); err != nil {
		return apierrors.NewInternalError(err)
	}
	call.Round, call.Index = d.round, candidate.Position
	changed, failed, rejection := d.do(call)
	d.mutation.Invoked(call.Accessor.Webhook, call.GetUID(), changed)
	if rejection == nil && failed {
		if interrupted := matching.Interrupted(d.ctx.Done()); interrupted != nil {
			return interrupted
		}
	}
	return rejection
}

// do calls a webhook, applies its patch, and reports whether that changed the object.
func (d *dispatcher) do(c *webhook.Call) (changed, failed bool, rejection error) {
	identity := upstreammutating.MutationAuditAnnotation{Configuration: c.GetConfigurationName(), Webhook: c.GetName()}
	defer func() {
		identity.Mutated = changed
		d.annotate(c, upstreammutating.MutationAuditAnnotationPrefix, identity, audit.LevelMetadata)
	}()
	failed, rejection = c.Do(d.ctx, func(response *request.AdmissionResponse, span *tracing.Span) error {
		patch, err := decodePatch(c, response)
		if err != nil || len(patch) == 0 {
			return err
		}
		if changed, err = d.mutation.Patch(c.Kind, patch); err != nil {
			return apierrors.NewInternalError(err)
		}
		span.AddEvent("Patch applied")
		d.annotate(c, upstreammutating.PatchAuditAnnotationPrefix, upstreammutating.PatchAuditAnnotation{
			Configuration: identity.Configuration, Webhook: identity.Webhook, Patch: patch, PatchType: string(admissionv1.PatchTypeJSONPatch),
		}, audit.LevelRequest)
		return nil
	})
	return changed, failed, rejection
}

// annotate adds an audit annotation about a call, with the JSON of a value.
func (d *dispatcher) annotate(c *webhook.Call, prefix string, value any, level audit.Level) {
	text, err := json.Marshal(value)
	if err != nil {
		klog.FromContext(d.ctx).Error(err, "Audit annotation left out", "webhook", c.GetName(), "configuration", c.GetConfigurationName(), "key", prefix)
		return
	}
	c.Annotate(d.ctx, prefix, string(text), level)
}

// decodePatch returns the patch of a response, which may be empty.
func decodePatch(c *webhook.Call, response *request.AdmissionResponse) (jsonpatch.Patch, error) {
	if len(response.Patch) == 0 {
		return nil, nil
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	switch {
	case err != nil:
		return nil, c.Failure(fmt.Errorf("received undecodable patch in webhook response: %w", err), apierrors.NewServiceUnavailable("error decoding patch in webhook response"))
	case len(patch) == 0:
		return nil, nil
	case c.Attributes.VersionedObject.Object() == nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", c.GetName()))
	case response.PatchType != admissionv1.PatchTypeJSONPatch:
		return nil, c.Failure(fmt.Errorf("unsupported patch type %q", response.PatchType), webhookerrors.ToStatusErr(c.GetName(), response.Result))
	}
	return patch, nil
}
