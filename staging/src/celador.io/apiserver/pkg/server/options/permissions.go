// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/klog/v2"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// followed are the resources of the main server that the plugins list and watch.
var followed = func() []schema.GroupResource {
	resources := []schema.GroupResource{corev1.Resource("namespaces")}
	for _, name := range append(policyspec.Resources(), "validatingwebhookconfigurations", "mutatingwebhookconfigurations") {
		resources = append(resources, v1.Resource(name))
	}
	return resources
}()

// followedForTypes are the resources of the main server that type checks list and watch.
var followedForTypes = []schema.GroupResource{
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, {Group: "apiregistration.k8s.io", Resource: "apiservices"},
}

// permissionsInterval is the time between two checks for missing permissions.
const permissionsInterval = time.Second

// permissions knows which permissions on the main server are missing. Without it, informers would
// repeat forbidden requests in silence, and writes would wait for them. Safe for concurrent use.
type permissions struct {
	reviews  authorizationclient.SelfSubjectAccessReviewInterface
	followed []schema.GroupResource
	missing  atomic.Pointer[string]
}

// checkPermissions adds a readiness check to the server that fails while client lacks permissions
// to list and watch the followed resources of the main server. Meanwhile the server refuses writes
// at once.
func checkPermissions(config *genericapiserver.Config, client kubernetes.Interface, followed []schema.GroupResource) error {
	p := &permissions{reviews: client.AuthorizationV1().SelfSubjectAccessReviews(), followed: followed}
	config.AddReadyzChecks(healthz.NamedCheck("policy-permissions", func(*http.Request) error { return p.err() }))
	build := config.BuildHandlerChainFunc
	config.BuildHandlerChainFunc = func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(p.refuseWrites(api, config), config)
	}
	return config.AddPostStartHook("check-policy-permissions", func(hook genericapiserver.PostStartHookContext) error {
		go p.run(hook)
		return nil
	})
}

// err returns an error that names the missing permissions, or nil.
func (p *permissions) err() error {
	if missing := p.missing.Load(); missing != nil {
		return errors.New("admission policies are not known, because the user of this server lacks permissions on the main server: " + *missing)
	}
	return nil
}

// run checks the permissions until none is missing or ctx ends. It logs the missing ones when they
// change.
func (p *permissions) run(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, permissionsInterval, true, func(ctx context.Context) (bool, error) {
		missing, err := p.ask(ctx)
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Cannot find out whether the server may read admission policies")
			return false, nil
		}
		if len(missing) == 0 {
			p.missing.Store(nil)
			return true, nil
		}
		text := strings.Join(missing, ", ")
		if before := p.missing.Swap(&text); before == nil || *before != text {
			klog.FromContext(ctx).Error(p.err(), "Refusing writes and not ready: grant the permissions to the user of this server")
		}
		return false, nil
	})
}

// ask asks the main server for the permissions, and returns those that it does not grant.
func (p *permissions) ask(ctx context.Context) (missing []string, err error) {
	for _, resource := range p.followed {
		for _, verb := range []string{"list", "watch"} {
			review, err := p.reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: resource.Group, Resource: resource.Resource, Verb: verb},
			}}, metav1.CreateOptions{})
			if err != nil {
				return nil, err
			}
			if !review.Status.Allowed {
				missing = append(missing, verb+" "+resource.String())
			}
		}
	}
	return missing, nil
}

// refuseWrites returns a handler that answers writes with an error while permissions are missing.
func (p *permissions) refuseWrites(api http.Handler, config *genericapiserver.Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := p.err()
		info, known := request.RequestInfoFrom(r.Context())
		if err == nil || !known || !info.IsResourceRequest || slices.Contains([]string{"get", "list", "watch"}, info.Verb) {
			api.ServeHTTP(w, r)
			return
		}
		version := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
		responsewriters.ErrorNegotiated(apierrors.NewServiceUnavailable(err.Error()), config.Serializer, version, w, r)
	})
}
