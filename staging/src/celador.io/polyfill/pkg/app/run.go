// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/discovery/cached/memory"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/restmapper"

	"celador.io/admission/compact"
	"celador.io/admission/review"
	policyinformers "celador.io/client-go/informers"

	"celador.io/polyfill/pkg/equivalents"
	"celador.io/polyfill/pkg/policywrites"
	"celador.io/polyfill/pkg/registration"
	"celador.io/polyfill/pkg/routing"
	"celador.io/polyfill/pkg/serving"
)

// readyInterval is the time between two looks of a new leader whether it is ready.
const readyInterval = 100 * time.Millisecond

// run serves until ctx ends and requests have drained. It returns an error if the polyfill cannot
// start.
func run(ctx context.Context, o *Options) error {
	c, err := newClients(o)
	if err != nil {
		return err
	}
	user, err := whoAmI(ctx, c)
	if err != nil {
		return err
	}
	// What requests need outlives ctx, until they have drained.
	draining, drained := context.WithCancel(context.WithoutCancel(ctx))
	defer drained()

	core := kubeinformers.NewSharedInformerFactoryWithOptions(c.core, 0, kubeinformers.WithTransform(withoutManagedFields))
	policies := policyinformers.NewSharedInformerFactoryWithOptions(c.policies, 0, policyinformers.WithTransform(compact.New().Transform))
	configurations := registration.NewInformers(c.core)
	plugins, err := newPlugins(draining, c, core, policies)
	if err != nil {
		return err
	}
	tables := map[routing.Kind]*routing.Table{routing.Validating: routing.NewTable(), routing.Mutating: routing.NewTable()}
	set := func(kind routing.Kind, members routing.Members) { tables[kind].Set(members) }
	if err := registration.FollowMembers(configurations, set); err != nil {
		return err
	}
	certificate, rotate, err := newCertificates(o, c)
	if err != nil {
		return err
	}
	status, types, warner, err := newStatus(draining, c, plugins, policies)
	if err != nil {
		return err
	}
	mapper, err := equivalents.New(c.core.Discovery(), status.Types().CRD)
	if err != nil {
		return err
	}
	writes := policywrites.New(policywrites.Config{
		Client:     c.policies,
		Informers:  policies.Admissionregistration().V1(),
		Authorizer: plugins.authorizer,
		Mapper:     restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.core.Discovery())),
		Types:      types,
		Warner:     warner,
	})
	webhooks, err := registration.New(registration.Config{
		Client: c.core, Policies: policies, Configurations: configurations, CABundle: certificate,
		Webhooks: routing.Options{
			Namespace: o.Namespace, Service: o.ServiceName, Port: o.ServicePort, TimeoutSeconds: int32(o.WebhookTimeout.Seconds()), User: user,
		},
	})
	if err != nil {
		return err
	}
	ready := func() error {
		if !status.Types().HasSynced() {
			return errors.New("not all CustomResourceDefinitions are known yet")
		}
		return plugins.PoliciesSynced()
	}
	params := plugins.AwaitParams(ready)
	// API servers must not call a release of which no replica has ever been ready.
	register := func(ctx context.Context) {
		_ = wait.PollUntilContextCancel(ctx, readyInterval, true, func(context.Context) (bool, error) {
			return ready() == nil && params() == nil && certificate.Check() == nil, nil
		})
		webhooks.Run(ctx)
	}
	lead, err := newLeader(o, c.urgent, func(ctx context.Context) { rotate(ctx, webhooks.CABundleSince) }, register, status.WriteStatus)
	if err != nil {
		return err
	}
	reviews, clientAuth, err := authenticate(draining, o, newReviews(ready, &serving.InFlightLimits{Requests: o.MaxRequestsInFlight, Bytes: o.MaxBytesInFlight}, plugins, tables, review.NewObjects(mapper), writes))
	if err != nil {
		return err
	}
	s := newServers(o, reviews, &tls.Config{GetCertificate: certificate.GetCertificate, ClientAuth: clientAuth, MinVersion: tls.VersionTLS12},
		healthz.NamedCheck("policy-informer-sync", func(*http.Request) error { return ready() }),
		healthz.NamedCheck("policy-param-sync", func(*http.Request) error { return params() }),
		healthz.NamedCheck("certificate", func(*http.Request) error { return certificate.Check() }),
		healthz.NamedCheck("webhook-configurations", func(*http.Request) error { return webhooks.Check() }),
	)
	go certificate.Run(draining)
	core.StartWithContext(draining)
	policies.StartWithContext(draining)
	configurations.StartWithContext(draining)
	go status.Run(draining)
	go mapper.Run(draining)
	go lead(ctx)
	return s.run(ctx)
}

// withoutManagedFields is a cache.TransformFunc. Nothing reads the managed fields of namespaces.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// newReviews returns the handler of all webhooks.
func newReviews(ready func() error, limits *serving.InFlightLimits, p *plugins, tables map[routing.Kind]*routing.Table, objects admission.ObjectInterfaces, writes *policywrites.Reviewer) http.Handler {
	mux := http.NewServeMux()
	for kind, plugin := range p.byKind() {
		reviewer := &serving.Reviewer{Ready: ready, Table: tables[kind], Plugin: plugin, Objects: objects}
		mux.Handle("/"+string(kind)+"/", serving.NewHandler(string(kind), limits, reviewer.Prepare, reviewer.Decide))
	}
	mux.Handle(routing.PoliciesPath, serving.NewHandler("policies", limits,
		func(ctx context.Context, _ string) (context.Context, error) { return ctx, ready() },
		writes.Review))
	return mux
}

// whoAmI returns the name of the polyfill's own user.
func whoAmI(ctx context.Context, c *clients) (string, error) {
	review, err := c.core.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking the cluster for the name of the webhook's own user: %w", err)
	}
	return review.Status.UserInfo.Username, nil
}

// uninstall lets API servers stop to call the webhook.
func uninstall(ctx context.Context, o *Options) error {
	if o.Namespace == "" {
		return errors.New("--namespace is required outside of a Pod")
	}
	c, err := newClients(o)
	if err != nil {
		return err
	}
	return registration.Uninstall(ctx, c.core, o.Namespace, o.ServiceName)
}
