// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/request"

	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
)

// markMetadataOnly returns a handler that marks requests whose responses are PartialObjectMetadata.
// If there are conversion rules, the storage reads objects for such a request without their other
// fields, and evaluates only rules on which metadata depends, so other rules cannot make the
// request fail.
func markMetadataOnly(scope *handlers.RequestScope, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if wantsMetadata(req, scope) {
			req = req.WithContext(versionedstorage.WithMetadataOnly(req.Context()))
		}
		serve(w, req)
	}
}

// wantsMetadata reports whether the response of a request is PartialObjectMetadata or a list of it,
// as for requests of the namespace controller and the garbage collector.
func wantsMetadata(req *http.Request, scope *handlers.RequestScope) bool {
	// If negotiation fails, the handler returns the error to the client.
	mediaType, _, err := negotiation.NegotiateOutputMediaType(req, scope.Serializer, scope)
	return err == nil && mediaType.Convert != nil && mediaType.Convert.Group == metav1.GroupName &&
		(mediaType.Convert.Kind == "PartialObjectMetadata" || mediaType.Convert.Kind == "PartialObjectMetadataList")
}

// patchMain returns the handler of a patch without a subresource. If the response is
// PartialObjectMetadata, as for the garbage collector, a patch of metadata alone succeeds even if
// the object does not convert to the version of the request. That does not apply to server-side
// apply.
func patchMain(version *serving.VersionEndpoints, admit admission.Interface, info *request.RequestInfo) http.HandlerFunc {
	serve := patch(version.Storage.CustomResource, version.Scope, admit, version.Apply, info)
	return func(w http.ResponseWriter, req *http.Request) {
		if isApply(req) || !wantsMetadata(req, version.Scope) {
			serve(w, req)
			return
		}
		body := &recordedBody{ReadCloser: req.Body}
		req = req.WithContext(req.Context())
		req.Body = body
		storage, admit := version.MetadataPatch(admit, func() bool { return patchesOnlyMetadata(patchType(req), body.read.Bytes()) })
		handlers.PatchResource(storage, version.Scope, admit, patchTypes())(w, req)
	}
}

// recordedBody is a request body that keeps what has been read of it, so that patchesOnlyMetadata
// can examine the patch after the handler has read it.
type recordedBody struct {
	io.ReadCloser
	read bytes.Buffer
}

// Read implements io.Reader.
func (r *recordedBody) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.read.Write(p[:n])
	return n, err
}

// patchesOnlyMetadata reports whether a merge patch or JSON patch changes nothing but metadata. A
// merge patch may contain apiVersion and kind, which cannot change an object.
func patchesOnlyMetadata(patchType types.PatchType, patch []byte) bool {
	switch patchType {
	case types.MergePatchType:
		var fields map[string]json.RawMessage
		if json.Unmarshal(patch, &fields) != nil {
			return false
		}
		delete(fields, "apiVersion")
		delete(fields, "kind")
		delete(fields, "metadata")
		return len(fields) == 0
	case types.JSONPatchType:
		var operations []struct{ Path, From string }
		if json.Unmarshal(patch, &operations) != nil {
			return false
		}
		for _, operation := range operations {
			if !isMetadata(operation.Path) || operation.From != "" && !isMetadata(operation.From) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

func isMetadata(path string) bool {
	return path == "/metadata" || strings.HasPrefix(path, "/metadata/")
}
