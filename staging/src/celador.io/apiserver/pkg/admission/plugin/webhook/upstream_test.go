// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/metrics"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	clocktesting "k8s.io/utils/clock/testing"
)

func newServer(t *testing.T) string {
	t.Helper()
	server := webhooktesting.NewTestServer(t)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// upstreamTest is a test case of upstream for either kind.
type upstreamTest = webhooktesting.MutatingTest

func asUpstreamTests(tests []webhooktesting.ValidatingTest) []upstreamTest {
	var result []upstreamTest
	for _, test := range tests {
		result = append(result, upstreamTest{
			Name: test.Name, Webhooks: webhooktesting.ConvertToMutatingWebhooks(test.Webhooks), IsCRD: test.IsCRD, IsDryRun: test.IsDryRun, AdditionalLabels: test.AdditionalLabels,
			ExpectAllow: test.ExpectAllow, ErrorContains: test.ErrorContains, ExpectAnnotations: maps.Clone(test.ExpectAnnotations), ExpectStatusCode: test.ExpectStatusCode, ExpectRejectionMetrics: test.ExpectRejectionMetrics,
		})
	}
	return result
}

// The plugins pass the test cases of upstream's plugins.
func TestUpstreamCases(t *testing.T) {
	server := newServer(t)
	url := parse(t, server)
	for name, cases := range map[string][]upstreamTest{
		"validating": asUpstreamTests(webhooktesting.NewNonMutatingTestCases(url)),
		"mutating": append(webhooktesting.NewMutatingTestCases(url, configuration),
			webhooktesting.ConvertToMutatingTestCases(webhooktesting.NewNonMutatingTestCases(url), configuration)...),
	} {
		k := kinds[name]
		for _, test := range cases {
			t.Run(name+"/"+test.Name, func(t *testing.T) {
				p, _ := k.started(t, server, webhooktesting.NewAuthenticationInfoResolver(new(int32)), test.Webhooks)
				metrics.Metrics.WebhookRejectionGathererForTest().Reset()
				attribute := webhooktesting.NewAttribute
				if test.IsCRD {
					attribute = webhooktesting.NewAttributeUnstructured
				}
				a := attribute(namespace, test.AdditionalLabels, test.IsDryRun)
				checkError(t, k.examine(t.Context(), p, a), test.ExpectAllow, test.ErrorContains, test.ExpectStatusCode)
				if got := a.GetObject().(metav1.Object).GetLabels(); test.ExpectLabels != nil {
					if diff := cmp.Diff(test.ExpectLabels, got); diff != "" {
						t.Errorf("labels (-want +got):\n%s", diff)
					}
				}
				checkAnnotations(t, a, test.ExpectAnnotations)
				if test.ExpectRejectionMetrics != "" {
					checkRejections(t, test.ExpectRejectionMetrics)
				}
			})
		}
	}
}

// checkError compares the error with which a plugin rejects a request. The code is 0 if any is
// fine.
func checkError(t *testing.T, err error, allowed bool, text string, code int32) {
	t.Helper()
	if allowed != (err == nil) {
		t.Errorf("error is %v, want the request to be allowed: %t", err, allowed)
	}
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("error is %q, want it to contain %q", err, text)
	}
	if status, ok := err.(*apierrors.StatusError); !ok {
		t.Errorf("error %v is a %T, want a StatusError", err, err)
	} else if code != 0 && status.ErrStatus.Code != code {
		t.Errorf("status code is %d, want %d", status.ErrStatus.Code, code)
	}
}

func checkAnnotations(t *testing.T, a any, want map[string]string) {
	t.Helper()
	got := a.(*webhooktesting.FakeAttributes).GetAnnotations(audit.LevelMetadata)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// checkRejections compares the samples of upstream's metric, whatever its description is.
func checkRejections(t *testing.T, samples string) {
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
	server, k := newServer(t), kinds["validating"]
	for _, test := range asUpstreamTests(webhooktesting.NewNonMutatingPanicTestCases(parse(t, server))) {
		t.Run(test.Name, func(t *testing.T) {
			p, _ := k.started(t, server, webhooktesting.NewPanickingAuthenticationInfoResolver("Start panicking!"), test.Webhooks)
			a := webhooktesting.NewAttribute(namespace, nil, test.IsDryRun)
			checkError(t, k.examine(t.Context(), p, a), test.ExpectAllow, test.ErrorContains, 0)
			checkAnnotations(t, a, test.ExpectAnnotations)
		})
	}
}

// Clients are kept when the webhooks change.
func TestUpstreamClientCases(t *testing.T) {
	server, k := newServer(t), kinds["validating"]
	p, err := k.plugin()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range webhooktesting.NewCachedClientTestcases(parse(t, server)) {
		t.Run(test.Name, func(t *testing.T) {
			misses := new(int32)
			k.start(t, p, server, webhooktesting.NewAuthenticationInfoResolver(misses), webhooktesting.ConvertToMutatingWebhooks(test.Webhooks))
			checkError(t, k.examine(t.Context(), p, webhooktesting.NewAttribute(namespace, nil, false)), test.ExpectAllow, "", 0)
			if (*misses > 0) != test.ExpectCacheMiss {
				t.Errorf("%d clients made, want some: %t", *misses, test.ExpectCacheMiss)
			}
		})
	}
}

// The latency trackers of a request get the duration of calls: their sum for mutating webhooks, and
// at least the longest one for validating webhooks, which run at the same time.
func TestUpstreamDurationCases(t *testing.T) {
	clock := &clocktesting.FakeClock{}
	slow := webhooktesting.NewTestServerWithHandler(t, webhooktesting.ClockSteppingWebhookHandler(t, clock))
	slow.StartTLS()
	t.Cleanup(slow.Close)
	for _, test := range webhooktesting.NewValidationDurationTestCases(parse(t, slow.URL)) {
		if !test.InitContext {
			continue // without trackers
		}
		for name, k := range kinds {
			t.Run(name+"/"+test.Name, func(t *testing.T) {
				p, _ := k.started(t, slow.URL, webhooktesting.NewAuthenticationInfoResolver(new(int32)), webhooktesting.ConvertToMutatingWebhooks(test.Webhooks))
				ctx := request.WithLatencyTrackersAndCustomClock(t.Context(), clock)
				// Whether the request is allowed does not matter.
				_ = k.examine(ctx, p, webhooktesting.NewAttribute(namespace, nil, test.IsDryRun))
				trackers, _ := request.LatencyTrackersFrom(ctx)
				got := map[string]time.Duration{"mutating": trackers.MutatingWebhookTracker.GetLatency(), "validating": trackers.ValidatingWebhookTracker.GetLatency()}
				wrong := got[name] != test.ExpectedDurationSum
				if name == "validating" {
					wrong = got[name] < test.ExpectedDurationMax
				}
				if delete(got, name); wrong || got["mutating"]+got["validating"] != 0 {
					t.Errorf("%s in mutating and %s in validating webhooks, want %s or at least %s in %s webhooks alone", trackers.MutatingWebhookTracker.GetLatency(),
						trackers.ValidatingWebhookTracker.GetLatency(), test.ExpectedDurationSum, test.ExpectedDurationMax, name)
				}
			})
		}
	}
}
