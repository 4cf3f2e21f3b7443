// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// handler serves custom resources and their discovery. It delegates requests for everything else.
type handler struct {
	lister    listers.CustomResourceDefinitionLister
	resources *resources
	discovery http.Handler
	delegate  http.Handler

	admission         admission.Interface
	minRequestTimeout time.Duration
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx := req.Context()
	info, ok := request.RequestInfoFrom(ctx)
	if !ok {
		responsewriters.ErrorNegotiated(apierrors.NewInternalError(errors.New("no RequestInfo found in the context")), scheme.Codecs, schema.GroupVersion{}, w, req)
		return
	}
	if !info.IsResourceRequest {
		h.discovery.ServeHTTP(w, req)
		return
	}

	crd, resource, err := h.find(ctx, info)
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to serve a custom resource", "group", info.APIGroup, "resource", info.Resource)
		writeError(w, req, info, apierrors.NewInternalError(errors.New("error resolving resource")))
		return
	}
	if resource == nil {
		h.delegate.ServeHTTP(w, req)
		return
	}
	if info.Verb != "watch" {
		defer resource.Release()
	}

	version := resource.Version(info.APIVersion)
	if version.DeprecationWarning != "" {
		warning.AddWarning(ctx, "", version.DeprecationWarning)
	}
	serve, err := h.endpoint(ctx, version, info, crd)
	if err != nil {
		writeError(w, req, info, err)
		return
	}
	metrics.InstrumentHandlerFunc(strings.ToUpper(info.Verb), info.APIGroup, info.APIVersion, info.Resource, info.Subresource,
		metrics.CleanScope(info), metrics.APIServerComponent, version.Deprecated, "", serve)(w, req)
}

// find returns the CustomResourceDefinition of the request and the Resource that serves it, or a
// nil Resource if the handler must delegate the request. The caller must release the Resource
// unless the request is a watch. A watch may last for hours, so it does not acquire its Resource:
// the watch ends when the Resource is destroyed, and the client resumes it.
func (h *handler) find(ctx context.Context, info *request.RequestInfo) (*apiextensionsv1.CustomResourceDefinition, *serving.ServedResource, error) {
	for {
		crd, err := h.lister.Get(info.Resource + "." + info.APIGroup)
		if apierrors.IsNotFound(err) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if !served(crd, info) {
			return nil, nil, nil
		}
		resource, err := h.resources.get(ctx, crd)
		if errors.Is(err, errDeleted) {
			// A new CustomResourceDefinition may have the name.
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		// The Resource may serve a newer generation, which may no longer serve the version.
		if version := resource.Version(info.APIVersion); version == nil || !version.Served {
			return nil, nil, nil
		}
		if info.Verb == "watch" || resource.Acquire() {
			return crd, resource, nil
		}
		// The Resource was retired and drained after get returned it. The next get returns another
		// one.
	}
}

// served reports whether the CustomResourceDefinition serves the path of the request. One of two
// conditions is enough. Established alone, because an update of an established
// CustomResourceDefinition may put its names in conflict for a moment. NamesAccepted alone, because
// another API server of the cluster may have seen Established earlier.
func served(crd *apiextensionsv1.CustomResourceDefinition, info *request.RequestInfo) bool {
	return scopeMatches(crd, info) && apihelpers.HasServedCRDVersion(crd, info.APIVersion) &&
		(apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established))
}

// scopeMatches reports whether the path names a namespace for a namespaced resource, and none for a
// cluster-scoped one. Lists and watches of namespaced resources may omit the namespace.
func scopeMatches(crd *apiextensionsv1.CustomResourceDefinition, info *request.RequestInfo) bool {
	if crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
		return info.Namespace == ""
	}
	return info.Namespace != "" || info.Verb == "list" || info.Verb == "watch"
}

func writeError(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, err error) {
	responsewriters.ErrorNegotiated(err, scheme.Codecs, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, w, req)
}
