// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
)

// markMetadataOnly returns a handler that marks requests for PartialObjectMetadata, as the namespace and garbage collection
// controllers send, so that objects are read without the fields that the response does not have.
func markMetadataOnly(scope *handlers.RequestScope, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		// The handler returns the errors of negotiation.
		mediaType, _, err := negotiation.NegotiateOutputMediaType(req, scope.Serializer, scope)
		if err == nil && mediaType.Convert != nil && mediaType.Convert.Group == metav1.GroupName &&
			(mediaType.Convert.Kind == "PartialObjectMetadata" || mediaType.Convert.Kind == "PartialObjectMetadataList") {
			req = req.WithContext(versionedstorage.WithMetadataOnly(req.Context()))
		}
		serve(w, req)
	}
}
