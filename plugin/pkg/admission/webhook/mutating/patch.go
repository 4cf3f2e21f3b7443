// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apiserver/pkg/admission"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
)

// decodePatch returns the patch of a response, which is empty for one without.
func decodePatch(webhook string, response *request.AdmissionResponse) (jsonpatch.Patch, error) {
	if len(response.Patch) == 0 {
		return nil, nil
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		return nil, &webhookutil.ErrCallingWebhook{
			WebhookName: webhook,
			Reason:      fmt.Errorf("received undecodable patch in webhook response: %w", err),
			Status:      apierrors.NewServiceUnavailable("error decoding patch in webhook response"),
		}
	}
	return patch, nil
}

// apply puts the patched object in place of the one that the attributes have, and says
// whether they differ. Errors other than *webhookutil.ErrCallingWebhook mean that the
// request has to fail.
func apply(webhook string, patch jsonpatch.Patch, response *request.AdmissionResponse, a *admission.VersionedAttributes, o admission.ObjectInterfaces) (changed bool, err error) {
	before := a.VersionedObject.Object()
	if before == nil {
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", webhook))
	}
	if response.PatchType != admissionv1.PatchTypeJSONPatch {
		return false, &webhookutil.ErrCallingWebhook{
			WebhookName: webhook,
			Reason:      fmt.Errorf("unsupported patch type %q", response.PatchType),
			Status:      webhookerrors.ToStatusErr(webhook, response.Result),
		}
	}
	after, err := patched(before, patch, a, o)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	changed = !apiequality.Semantic.DeepEqual(before, after)
	a.UpdateObject(after)
	return changed, nil
}

func patched(before runtime.Object, patch jsonpatch.Patch, a *admission.VersionedAttributes, o admission.ObjectInterfaces) (runtime.Object, error) {
	codec := json.NewSerializerWithOptions(json.DefaultMetaFactory, o.GetObjectCreater(), o.GetObjectTyper(), json.SerializerOptions{})
	text, err := runtime.Encode(codec, before)
	if err != nil {
		return nil, err
	}
	text, err = patch.Apply(text)
	if err != nil {
		return nil, err
	}
	var into runtime.Object = &unstructured.Unstructured{}
	if _, custom := before.(*unstructured.Unstructured); !custom {
		if into, err = o.GetObjectCreater().New(a.VersionedKind); err != nil {
			return nil, err
		}
	}
	after, _, err := codec.Decode(text, nil, into)
	return after, err
}
