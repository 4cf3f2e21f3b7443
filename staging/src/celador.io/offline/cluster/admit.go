// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	endpoints "k8s.io/apiserver/pkg/endpoints/request"
	kjson "sigs.k8s.io/json"
)

// Admit returns the response to a request. It does not change the cluster. It returns an error if
// the request is not one that a client can send, such as one for an unknown resource or with an
// unknown field. An object that the API rejects for another reason is part of the response.
func (c *Cluster) Admit(ctx context.Context, request *Request) (*Response, error) {
	return c.admit(ctx, request, newResults(&c.policies))
}

// admit returns the response to a request. It evaluates the policies of r, and records in r what
// they did.
func (c *Cluster) admit(ctx context.Context, request *Request, r *results) (*Response, error) {
	ctx = received(ctx, request.Time)
	l := newLayer(c.objects)
	call, err := c.newCall(ctx, request, l)
	if err != nil {
		return nil, err
	}
	object, warnings, err := c.serve(withResults(withLayer(ctx, l), r), call)
	response := &Response{Allowed: err == nil, Warnings: warnings, Object: object}
	var status *apierrors.StatusError
	switch {
	case err == nil:
	case !errors.As(err, &status):
		return nil, err
	case request.Operation == admission.Connect && status.ErrStatus.Reason == errConnected.ErrStatus.Reason:
		response.Allowed = true
	case apierrors.IsBadRequest(status) && !r.mutated && !r.validated:
		// Policies never saw the request, because its body cannot be decoded.
		return nil, status
	default:
		response.Status = status
	}
	if object != nil {
		// The times in managedFields differ between runs.
		object.SetManagedFields(nil)
	}
	c.addResults(response, r)
	return response, nil
}

// received returns a context with the time at which a request is received, which may be zero.
func received(ctx context.Context, at time.Time) context.Context {
	if _, ok := endpoints.ReceivedTimestampFrom(ctx); at.IsZero() && !ok {
		at = time.Now()
	}
	return endpoints.WithReceivedTimestamp(ctx, at)
}

// errConnected is the error that a CONNECT request gets after all policies have admitted it, since
// there is nothing to connect to. Admit turns it into a response that allows the request.
var errConnected = &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Reason: "Connected", Code: http.StatusOK, Message: "connected"}}

// newCall returns the HTTP request for a request, and stores the old object in the layer.
func (c *Cluster) newCall(ctx context.Context, request *Request, l *layer) (*call, error) {
	r, err := c.target(request)
	if err != nil {
		return nil, err
	}
	out := &call{resource: r, user: request.UserInfo}
	if out.user == nil {
		out.user = administrator
	}
	if err := out.locate(request); err != nil {
		return nil, err
	}
	var stored *unstructured.Unstructured
	if request.OldObject != nil {
		if stored, err = c.storeOld(ctx, out, request, l); err != nil {
			return nil, fmt.Errorf("oldObject: %w", err)
		}
	}
	switch request.Operation {
	case admission.Create:
		out.method = http.MethodPost
		err = out.withBody(request, &metav1.CreateOptions{})
	case admission.Update:
		out.method = http.MethodPut
		if err = out.withBody(request, &metav1.UpdateOptions{}); err == nil {
			if stored != nil && out.subresource == "" {
				out.body = completed(request.Object, request.OldObject, stored).Object
			}
			out.body, err = c.withVersion(out, l)
		}
	case admission.Delete:
		out.method = http.MethodDelete
		out.body = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
		err = decodeOptions(request, out.body)
	case admission.Connect:
		err = c.withConnectOptions(out, request)
	default:
		err = fmt.Errorf("operation %q is not CREATE, UPDATE, DELETE or CONNECT", request.Operation)
	}
	return out, err
}

// storeOld stores the old object of a request in the layer, and returns it.
func (c *Cluster) storeOld(ctx context.Context, call *call, request *Request, l *layer) (*unstructured.Unstructured, error) {
	parent, err := c.resource(call.GroupVersionResource, "")
	if err != nil {
		return nil, err
	}
	old := request.OldObject
	if kind := old.GroupVersionKind(); kind.GroupKind() != parent.kind.GroupKind() {
		return nil, fmt.Errorf("kind %s is not that of resource %s, which is %s", kind.Kind, parent.GroupResource(), parent.kind.Kind)
	}
	if namespace := namespaceOf(parent, old); namespace != call.namespace && old.GetNamespace() != "" {
		return nil, fmt.Errorf("metadata.namespace %q is not the namespace of the request, %q", namespace, call.namespace)
	}
	if request.Operation != admission.Create && old.GetName() != call.name {
		return nil, fmt.Errorf("metadata.name %q is not the name of the request, %q", old.GetName(), call.name)
	}
	stored := c.asStored(ctx, parent, call.namespace, old)
	return stored, c.store(l, parent, call.namespace, stored)
}

// target returns the resource of a request.
func (c *Cluster) target(request *Request) (*resource, error) {
	if !request.Resource.Empty() {
		return c.resource(request.Resource, request.Subresource)
	}
	object := request.Object
	if object == nil || request.Subresource != "" && request.OldObject != nil {
		object = request.OldObject
	}
	if object == nil {
		return nil, errors.New("the request has neither a resource nor an object")
	}
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil || request.Subresource == "" {
		return r, err
	}
	return c.resource(r.GroupVersionResource, request.Subresource)
}

// locate sets the namespace and name of the call.
func (c *call) locate(request *Request) error {
	c.namespace, c.name = request.Namespace, request.Name
	for _, object := range []*unstructured.Unstructured{request.Object, request.OldObject} {
		if object == nil || request.Operation == admission.Connect && object == request.Object {
			continue
		}
		if c.namespace == "" {
			c.namespace = object.GetNamespace()
		}
		if c.name == "" {
			c.name = object.GetName()
		}
	}
	switch {
	case !c.namespaced && request.Namespace != "":
		return fmt.Errorf("namespace: %s have no namespace", c.path())
	case !c.namespaced:
		c.namespace = ""
	case c.namespace == "":
		c.namespace = corev1.NamespaceDefault
	}
	if request.Operation == admission.Create && c.subresource == "" {
		if name := request.Name; name != "" && request.Object != nil && request.Object.GetName() != name {
			return fmt.Errorf("name %q is not that of the object, %q", name, request.Object.GetName())
		}
		c.name = "" // the name of a new object is in the body
	} else if c.name == "" {
		return errors.New("the request has no name; set metadata.name of the object")
	}
	for field, value := range map[string]string{"name": c.name, "namespace": c.namespace} {
		if problems := content.IsPathSegmentName(value); len(problems) > 0 {
			return fmt.Errorf("%s %q %s", field, value, strings.Join(problems, ", "))
		}
	}
	return nil
}

// withBody sets the body and the options of a Create or Update.
func (c *call) withBody(request *Request, options any) error {
	if request.Object == nil {
		return fmt.Errorf("operation %s needs an object", request.Operation)
	}
	c.body = request.Object.Object
	if err := decodeOptions(request, options); err != nil {
		return err
	}
	query, err := queryparams.Convert(options)
	if err != nil {
		return err
	}
	if !query.Has("fieldValidation") {
		query.Set("fieldValidation", metav1.FieldValidationStrict)
	}
	c.query = query
	return nil
}

// decodeOptions decodes the options of the request into a pointer to CreateOptions, UpdateOptions
// or DeleteOptions.
func decodeOptions(request *Request, options any) error {
	content := maps.Collect(maps.All(request.Options))
	delete(content, "apiVersion")
	delete(content, "kind")
	if request.DryRun {
		content["dryRun"] = []any{metav1.DryRunAll}
	}
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	strict, err := kjson.UnmarshalStrict(data, options)
	if err == nil && len(strict) > 0 {
		err = runtime.NewStrictDecodingError(strict)
	}
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}

// withVersion returns the body of an UPDATE request with the resource version of the stored object,
// unless it has one. Clients read an object before they update it, so they send its version.
func (c *Cluster) withVersion(call *call, l *layer) (any, error) {
	parent, err := c.resource(call.GroupVersionResource, "")
	if err != nil {
		return nil, err
	}
	stored := l.get(call.key(call.namespace, call.name))
	body, ok := call.body.(map[string]any)
	if stored == nil || !ok {
		return call.body, nil
	}
	object := (&unstructured.Unstructured{Object: body}).DeepCopy()
	if object.GetResourceVersion() != "" {
		return body, nil
	}
	current, err := read[metav1.Object](parent, stored)
	if err != nil {
		return nil, err
	}
	object.SetResourceVersion(current.GetResourceVersion())
	return object.Object, nil
}

// withConnectOptions sets the HTTP method and the query of a CONNECT request. The query has the
// options, such as the command of a pods/exec, which the object of the request holds.
func (c *Cluster) withConnectOptions(call *call, request *Request) error {
	if call.connecter == nil {
		return fmt.Errorf("resource %s does not accept CONNECT", call.path())
	}
	if len(request.Options) > 0 || request.DryRun {
		return errors.New("a CONNECT has neither options nor dryRun: its object holds the options")
	}
	call.method = call.connecter.ConnectMethods()[0]
	if request.Object == nil {
		return nil
	}
	g, err := c.group(call.Group)
	if err != nil {
		return err
	}
	if options, _, _ := call.connecter.NewConnectOptions(); options != nil {
		kinds, _, err := g.Scheme.ObjectKinds(options)
		if err != nil {
			return err
		}
		if kind := request.Object.GetKind(); !slices.ContainsFunc(kinds, func(k schema.GroupVersionKind) bool { return k.Kind == kind }) {
			return fmt.Errorf("object: kind %s is not that of the options of %s, which is %s", kind, call.path(), kinds[0].Kind)
		}
	}
	query, err := g.parameters(request.Object, call.GroupVersion())
	if err != nil {
		return fmt.Errorf("object: %w", err)
	}
	call.query = query
	return nil
}

// parameters returns the query parameters of an options object such as PodExecOptions.
func (g *group) parameters(object *unstructured.Unstructured, version schema.GroupVersion) (url.Values, error) {
	data, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	kind := object.GroupVersionKind()
	options, _, err := g.codec.Decode(data, &kind, nil)
	if err != nil {
		return nil, err
	}
	return g.ParameterCodec.EncodeParameters(options, version)
}
