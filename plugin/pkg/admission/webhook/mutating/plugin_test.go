// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/endpoints/request"
	clocktesting "k8s.io/utils/clock/testing"

	"celador.io/celador/plugin/pkg/admission/webhook/mutating"
)

// Upstream's cases take these names for granted.
const (
	namespace     = "webhook-test"
	configuration = "test-webhooks"
)

// started returns an initialized plugin for the webhooks.
func started(t *testing.T, server *url.URL, webhooks []v1.MutatingWebhook) *mutating.Plugin {
	t.Helper()
	p, err := mutating.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client, informers := webhooktesting.NewFakeMutatingDataSource(namespace, webhooks, t.Context().Done())
	p.SetAuthenticationInfoResolverWrapper(webhooktesting.Wrapper(webhooktesting.NewAuthenticationInfoResolver(new(int32))))
	p.SetServiceResolver(webhooktesting.NewServiceResolver(*server))
	p.SetExternalKubeClientSet(client)
	p.SetExternalKubeInformerFactory(informers)
	if err := p.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	informers.Start(t.Context().Done())
	informers.WaitForCacheSync(t.Context().Done())
	return p
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
	listening := webhooktesting.NewTestServer(t)
	listening.StartTLS()
	t.Cleanup(listening.Close)
	server := parse(t, listening.URL)
	cases := webhooktesting.NewMutatingTestCases(server, configuration)
	cases = append(cases, webhooktesting.ConvertToMutatingTestCases(webhooktesting.NewNonMutatingTestCases(server), configuration)...)
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			p := started(t, server, test.Webhooks)
			attribute := webhooktesting.NewAttribute
			if test.IsCRD {
				attribute = webhooktesting.NewAttributeUnstructured
			}
			a := attribute(namespace, test.AdditionalLabels, test.IsDryRun)
			err := p.Admit(t.Context(), a, webhooktesting.NewObjectInterfacesForTest())
			wantOutcome(t, err, test)
			if got := a.GetObject().(metav1.Object).GetLabels(); test.ExpectLabels != nil {
				if diff := cmp.Diff(test.ExpectLabels, got); diff != "" {
					t.Errorf("labels (-want +got):\n%s", diff)
				}
			}
			got := a.(*webhooktesting.FakeAttributes).GetAnnotations(audit.LevelMetadata)
			if diff := cmp.Diff(test.ExpectAnnotations, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func wantOutcome(t *testing.T, err error, test webhooktesting.MutatingTest) {
	t.Helper()
	if test.ExpectAllow != (err == nil) {
		t.Errorf("error is %v, want the request to be allowed: %t", err, test.ExpectAllow)
	}
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), test.ErrorContains) {
		t.Errorf("error is %q, want it to say %q", err, test.ErrorContains)
	}
	if status, ok := err.(*apierrors.StatusError); !ok {
		t.Errorf("error %v is a %T, want a StatusError", err, err)
	} else if status.ErrStatus.Code != test.ExpectStatusCode {
		t.Errorf("status code is %d, want %d", status.ErrStatus.Code, test.ExpectStatusCode)
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
			p := started(t, server, webhooktesting.ConvertToMutatingWebhooks(test.Webhooks))
			ctx := request.WithLatencyTrackersAndCustomClock(t.Context(), clock)
			// Whether the request is allowed does not matter.
			_ = p.Admit(ctx, webhooktesting.NewAttribute(namespace, nil, test.IsDryRun), webhooktesting.NewObjectInterfacesForTest())
			trackers, _ := request.LatencyTrackersFrom(ctx)
			if got := trackers.MutatingWebhookTracker.GetLatency(); got != test.ExpectedDurationSum {
				t.Errorf("%s in mutating webhooks, want %s", got, test.ExpectedDurationSum)
			}
			if got := trackers.ValidatingWebhookTracker.GetLatency(); got != 0 {
				t.Errorf("%s in validating webhooks, want none", got)
			}
		})
	}
}
