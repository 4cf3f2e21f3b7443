// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	upstreammutating "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/apis/audit"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

// annotator says in the audit log what a webhook did.
type annotator struct {
	webhook    upstream.WebhookAccessor
	attributes admission.Attributes
	// place is the call's place among those of the request.
	place string
}

func newAnnotator(w upstream.WebhookAccessor, a admission.Attributes, round, index int) annotator {
	return annotator{w, a, fmt.Sprintf("round_%d_index_%d", round, index)}
}

// failedOpen says that the webhook could not be called.
func (n annotator) failedOpen(ctx context.Context) {
	webhook.Annotate(ctx, n.webhook, func() (string, error) {
		key := upstreammutating.MutationAuditAnnotationFailedOpenKeyPrefix + n.place
		return key, n.attributes.AddAnnotation(key, n.webhook.GetName())
	})
}

// mutated says whether the webhook changed the object.
func (n annotator) mutated(ctx context.Context, changed bool) {
	webhook.Annotate(ctx, n.webhook, func() (string, error) {
		key := upstreammutating.MutationAuditAnnotationPrefix + n.place
		value, err := json.Marshal(upstreammutating.MutationAuditAnnotation{
			Configuration: n.webhook.GetConfigurationName(), Webhook: n.webhook.GetName(), Mutated: changed,
		})
		if err != nil {
			return key, err
		}
		return key, n.attributes.AddAnnotation(key, string(value))
	})
}

// patched has the patch, where the audit policy asks for request bodies.
func (n annotator) patched(ctx context.Context, patch jsonpatch.Patch) {
	webhook.Annotate(ctx, n.webhook, func() (string, error) {
		key := upstreammutating.PatchAuditAnnotationPrefix + n.place
		value, err := json.Marshal(upstreammutating.PatchAuditAnnotation{
			Configuration: n.webhook.GetConfigurationName(), Webhook: n.webhook.GetName(),
			Patch: patch, PatchType: string(admissionv1.PatchTypeJSONPatch),
		})
		if err != nil {
			return key, err
		}
		return key, n.attributes.AddAnnotationWithLevel(key, string(value), audit.LevelRequest)
	})
}
