// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission/metrics"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/endpoints/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"celador.io/celador/plugin/pkg/admission/webhook/validating"
)

const namespace = "webhook-test"

// started returns an initialized plugin for the webhooks.
func started(t *testing.T, server *url.URL, auth webhookutil.AuthenticationInfoResolver, webhooks []v1.ValidatingWebhook) *validating.Plugin {
	t.Helper()
	p, err := validating.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	start(t, p, server, auth, webhooks)
	return p
}

func start(t *testing.T, p *validating.Plugin, server *url.URL, auth webhookutil.AuthenticationInfoResolver, webhooks []v1.ValidatingWebhook) {
	t.Helper()
	client, informers := webhooktesting.NewFakeValidatingDataSource(namespace, webhooks, t.Context().Done())
	p.SetAuthenticationInfoResolverWrapper(webhooktesting.Wrapper(auth))
	p.SetServiceResolver(webhooktesting.NewServiceResolver(*server))
	p.SetExternalKubeClientSet(client)
	p.SetExternalKubeInformerFactory(informers)
	if err := p.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	informers.Start(t.Context().Done())
	informers.WaitForCacheSync(t.Context().Done())
}

func newServer(t *testing.T) *url.URL {
	t.Helper()
	server := webhooktesting.NewTestServer(t)
	server.StartTLS()
	t.Cleanup(server.Close)
	return parse(t, server.URL)
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// What upstream expects of its plugin.
func TestUpstreamCases(t *testing.T) {
	server := newServer(t)
	for _, test := range webhooktesting.NewNonMutatingTestCases(server) {
		t.Run(test.Name, func(t *testing.T) {
			p := started(t, server, webhooktesting.NewAuthenticationInfoResolver(new(int32)), test.Webhooks)
			metrics.Metrics.WebhookRejectionGathererForTest().Reset()
			a := webhooktesting.NewAttribute(namespace, nil, test.IsDryRun)
			err := p.Validate(t.Context(), a, webhooktesting.NewObjectInterfacesForTest())
			wantOutcome(t, err, test.ExpectAllow, test.ErrorContains)
			if test.ExpectRejectionMetrics != "" {
				wantRejections(t, test.ExpectRejectionMetrics)
			}
			wantAnnotations(t, a, test.ExpectAnnotations)
		})
	}
}

func wantOutcome(t *testing.T, err error, allowed bool, text string) {
	t.Helper()
	if allowed != (err == nil) {
		t.Errorf("error is %v, want the request to be allowed: %t", err, allowed)
	}
	if _, ok := err.(*apierrors.StatusError); err != nil && !ok {
		t.Errorf("error %v is a %T, want a StatusError", err, err)
	}
	if text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("error is %v, want it to say %q", err, text)
	}
}

func wantAnnotations(t *testing.T, a any, want map[string]string) {
	t.Helper()
	got := a.(*webhooktesting.FakeAttributes).GetAnnotations(audit.LevelMetadata)
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// wantRejections compares the samples of upstream's metric, whatever its description is.
func wantRejections(t *testing.T, samples string) {
	t.Helper()
	const name = "apiserver_admission_webhook_rejection_count"
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			samples = "# HELP " + name + " " + family.GetHelp() + "\n# TYPE " + name + " counter\n" + samples + "\n"
		}
	}
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(samples), name); err != nil {
		t.Error(err)
	}
}

func TestUpstreamPanicCases(t *testing.T) {
	server := newServer(t)
	for _, test := range webhooktesting.NewNonMutatingPanicTestCases(server) {
		t.Run(test.Name, func(t *testing.T) {
			p := started(t, server, webhooktesting.NewPanickingAuthenticationInfoResolver("Start panicking!"), test.Webhooks)
			a := webhooktesting.NewAttribute(namespace, nil, test.IsDryRun)
			err := p.Validate(t.Context(), a, webhooktesting.NewObjectInterfacesForTest())
			wantOutcome(t, err, test.ExpectAllow, test.ErrorContains)
			wantAnnotations(t, a, test.ExpectAnnotations)
		})
	}
}

// Clients are kept when the webhooks change.
func TestUpstreamClientCases(t *testing.T) {
	server := newServer(t)
	p, err := validating.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range webhooktesting.NewCachedClientTestcases(server) {
		t.Run(test.Name, func(t *testing.T) {
			misses := new(int32)
			start(t, p, server, webhooktesting.NewAuthenticationInfoResolver(misses), test.Webhooks)
			err := p.Validate(t.Context(), webhooktesting.NewAttribute(namespace, nil, false), webhooktesting.NewObjectInterfacesForTest())
			wantOutcome(t, err, test.ExpectAllow, "")
			if (*misses > 0) != test.ExpectCacheMiss {
				t.Errorf("%d clients made, want some: %t", *misses, test.ExpectCacheMiss)
			}
		})
	}
}

func TestUpstreamDurationCases(t *testing.T) {
	clock := &clocktesting.FakeClock{}
	slow := webhooktesting.NewTestServerWithHandler(t, webhooktesting.ClockSteppingWebhookHandler(t, clock))
	slow.StartTLS()
	t.Cleanup(slow.Close)
	server := parse(t, slow.URL)
	for _, test := range webhooktesting.NewValidationDurationTestCases(server) {
		if !test.InitContext {
			continue // nothing to look at
		}
		t.Run(test.Name, func(t *testing.T) {
			p := started(t, server, webhooktesting.NewAuthenticationInfoResolver(new(int32)), test.Webhooks)
			ctx := request.WithLatencyTrackersAndCustomClock(t.Context(), clock)
			// Whether the request is allowed does not matter.
			_ = p.Validate(ctx, webhooktesting.NewAttribute(namespace, nil, test.IsDryRun), webhooktesting.NewObjectInterfacesForTest())
			trackers, _ := request.LatencyTrackersFrom(ctx)
			if got := trackers.MutatingWebhookTracker.GetLatency(); got != 0 {
				t.Errorf("%s in mutating webhooks, want none", got)
			}
			if got := trackers.ValidatingWebhookTracker.GetLatency(); got < test.ExpectedDurationMax {
				t.Errorf("%s in validating webhooks, want at least %s", got, test.ExpectedDurationMax)
			}
		})
	}
}
