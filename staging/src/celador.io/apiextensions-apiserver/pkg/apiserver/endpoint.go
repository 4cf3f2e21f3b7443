// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// establishingGrace is how long creation waits after the CustomResourceDefinition was established.
// Other API servers of the cluster may see it later, and answer 404 to requests for an object that
// was just created.
const establishingGrace = 2 * time.Second

// endpoint returns the handler of the request's verb. For create, it first waits if the
// CustomResourceDefinition was established only a moment ago; see awaitEstablished. It returns a
// NotFound error for a subresource that the version does not declare, and a MethodNotSupported
// error for a verb that custom resources or their subresources do not support.
func (h *handler) endpoint(ctx context.Context, version *serving.VersionEndpoints, info *request.RequestInfo, crd *apiextensionsv1.CustomResourceDefinition) (http.HandlerFunc, error) {
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	var serve http.HandlerFunc
	switch storage := version.Storage; {
	case info.Subresource == "" && info.Verb == "patch":
		serve = patchMain(version, h.admissionOf(crd), info)
	case info.Subresource == "":
		serve = h.resource(ctx, version, info.Verb, crd)
	case info.Subresource == "status" && storage.Status != nil && info.Verb == "patch":
		serve = patch(storage.Status, version.StatusScope, h.admission, version.ApplyStatus, info)
	case info.Subresource == "status" && storage.Status != nil:
		serve = h.subresource(storage.Status, version.StatusScope, info.Verb)
	case info.Subresource == "scale" && storage.Scale != nil:
		serve = h.subresource(storage.Scale, version.ScaleScope, info.Verb)
	default:
		return nil, apierrors.NewNotFound(resource, info.Name)
	}
	if serve == nil {
		return nil, apierrors.NewMethodNotSupported(resource, info.Verb)
	}
	return serve, nil
}

// patch returns the handler of a patch request. For a server-side apply, it gets the storage and
// the scope of the request from apply: if there are conversion rules, the two share a converter
// that remembers the objects of one request, so no other request may use them.
func patch(storage rest.Patcher, scope *handlers.RequestScope, admit admission.Interface, apply func() (rest.Patcher, *handlers.RequestScope, error), info *request.RequestInfo) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if isApply(req) {
			var err error
			if storage, scope, err = apply(); err != nil {
				writeError(w, req, info, err)
				return
			}
		}
		handlers.PatchResource(storage, scope, admit, patchTypes())(w, req)
	}
}

// isApply reports whether a patch request is a server-side apply.
func isApply(req *http.Request) bool {
	patch := patchType(req)
	return patch == types.ApplyYAMLPatchType || patch == types.ApplyCBORPatchType
}

func patchType(req *http.Request) types.PatchType {
	mediaType, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	return types.PatchType(mediaType)
}

// resource returns the handler of a request without a subresource that is not a patch, or nil for a
// verb that custom resources do not support.
func (h *handler) resource(ctx context.Context, version *serving.VersionEndpoints, verb string, crd *apiextensionsv1.CustomResourceDefinition) http.HandlerFunc {
	storage, scope := version.Storage.CustomResource, version.Scope
	switch verb {
	case "get":
		return markMetadataOnly(scope, handlers.GetResource(storage, scope))
	case "list", "watch":
		return markMetadataOnly(scope, handlers.ListResource(storage, storage, scope, verb == "watch", h.minRequestTimeout))
	case "create":
		awaitEstablished(ctx, crd)
		return handlers.CreateResource(storage, scope, h.admissionOf(crd))
	case "update":
		return handlers.UpdateResource(storage, scope, h.admission)
	case "delete":
		return handlers.DeleteResource(version.Deleter(), true, scope, version.DeletionAdmission(h.admission))
	case "deletecollection":
		return handlers.DeleteCollection(version.Deleter(), true, scope, version.DeletionAdmission(h.admission))
	}
	return nil
}

// subresource returns the handler of a request for status or scale, or nil for a verb that these do
// not support.
func (h *handler) subresource(storage rest.Patcher, scope *handlers.RequestScope, verb string) http.HandlerFunc {
	switch verb {
	case "get":
		return handlers.GetResource(storage, scope)
	case "update":
		return handlers.UpdateResource(storage, scope, h.admission)
	case "patch":
		return handlers.PatchResource(storage, scope, h.admission, patchTypes())
	}
	return nil
}

// admissionOf returns the admission chain for verbs that may create objects, which are create and
// patch. It forbids creation while the CustomResourceDefinition is terminating.
func (h *handler) admissionOf(crd *apiextensionsv1.CustomResourceDefinition) admission.Interface {
	if crd.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating) {
		return admission.NewChainHandler(noCreation{}, h.admission)
	}
	return h.admission
}

// awaitEstablished blocks for establishingGrace, or until ctx ends, if the condition Established
// changed less than establishingGrace ago.
func awaitEstablished(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	established := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	if established == nil || time.Since(established.LastTransitionTime.Time) >= establishingGrace {
		return
	}
	select {
	case <-time.After(establishingGrace):
	case <-ctx.Done():
	}
}

// patchTypes returns the media types of patches. Strategic merge patches are not among them,
// because they need Go types.
func patchTypes() []string {
	patches := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		patches = append(patches, string(types.ApplyCBORPatchType))
	}
	return patches
}
