// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingwebhookconfiguration_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	upstream "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"

	"celador.io/celador/pkg/features"
	"celador.io/celador/pkg/registry/admissionregistration/validatingwebhookconfiguration"
)

// demo is a valid configuration as it arrives in a request, with a webhook for each
// list of expressions.
func demo(conditions ...[]string) *admissionregistration.ValidatingWebhookConfiguration {
	configuration := &admissionregistration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "7", ResourceVersion: "1", CreationTimestamp: metav1.Unix(1, 0), Generation: 7},
	}
	for i, expressions := range conditions {
		webhook := admissionregistration.ValidatingWebhook{
			Name:                    string(rune('a'+i)) + ".example.com",
			ClientConfig:            admissionregistration.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             new(admissionregistration.SideEffectClassNone),
		}
		for j, expression := range expressions {
			webhook.MatchConditions = append(webhook.MatchConditions, admissionregistration.MatchCondition{Name: string(rune('a' + j)), Expression: expression})
		}
		configuration.Webhooks = append(configuration.Webhooks, webhook)
	}
	return configuration
}

type configuration = *admissionregistration.ValidatingWebhookConfiguration

func labelled(c configuration) configuration {
	c.Labels = map[string]string{"team": "blue"}
	return c
}

func lenient(c configuration) configuration {
	for i := range c.Webhooks {
		c.Webhooks[i].FailurePolicy = new(admissionregistration.Ignore)
	}
	return c
}

func emptyList(c configuration) configuration {
	c.Webhooks[0].MatchConditions = []admissionregistration.MatchCondition{}
	return c
}

// write creates sent, or updates stored to it.
func write(stored, sent configuration) error {
	ctx := request.WithNamespace(context.Background(), "")
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: "admissionregistration.k8s.io", APIVersion: "v1"})
	if stored == nil {
		return rest.BeforeCreate(validatingwebhookconfiguration.NewStrategy(), ctx, sent)
	}
	return rest.BeforeUpdate(validatingwebhookconfiguration.NewStrategy(), ctx, sent, stored)
}

// Match conditions get into no configuration that has none while the gate is off, and
// are lost from none that has some.
func TestConditionsOfGate(t *testing.T) {
	none, some, other := []string(nil), []string{"true"}, []string{"false"}
	for name, tc := range map[string]struct {
		on                 bool
		stored, sent, want configuration // without a stored one it is a create
		wantGeneration     int64
	}{
		"off: create":                         {sent: demo(some, other), want: demo(none, none), wantGeneration: 1},
		"off: create without":                 {sent: demo(none), want: demo(none), wantGeneration: 1},
		"off: update":                         {stored: demo(none, none), sent: demo(none, some), want: demo(none, none), wantGeneration: 7},
		"off: update of something":            {stored: demo(none), sent: lenient(demo(some)), want: lenient(demo(none)), wantGeneration: 8},
		"off: update with another webhook":    {stored: demo(none), sent: demo(none, some), want: demo(none, none), wantGeneration: 8},
		"off: an empty list is none":          {stored: emptyList(demo(none)), sent: demo(some), want: demo(none), wantGeneration: 8},
		"off: stored, kept":                   {stored: demo(some), sent: labelled(demo(some)), want: labelled(demo(some)), wantGeneration: 7},
		"off: stored, kept by another update": {stored: demo(some), sent: lenient(demo(some)), want: lenient(demo(some)), wantGeneration: 8},
		"off: stored, changed":                {stored: demo(some), sent: demo(other), want: demo(other), wantGeneration: 8},
		"off: stored, moved":                  {stored: demo(none, some), sent: demo(some, none), want: demo(some, none), wantGeneration: 8},
		"off: stored, with another webhook":   {stored: demo(some), sent: demo(some, other), want: demo(some, other), wantGeneration: 8},
		"off: stored, taken away":             {stored: demo(some), sent: demo(none), want: demo(none), wantGeneration: 8},
		"on: create":                          {on: true, sent: demo(some, other), want: demo(some, other), wantGeneration: 1},
		"on: create without":                  {on: true, sent: demo(none), want: demo(none), wantGeneration: 1},
		"on: update":                          {on: true, stored: demo(none), sent: demo(some), want: demo(some), wantGeneration: 8},
		"on: taken away":                      {on: true, stored: demo(some), sent: demo(none), want: demo(none), wantGeneration: 8},
		"on again: stored, kept":              {on: true, stored: demo(some), sent: labelled(demo(some)), want: labelled(demo(some)), wantGeneration: 7},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionWebhookMatchConditions, tc.on)
			if err := write(tc.stored, tc.sent); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.Webhooks, tc.sent.Webhooks); diff != "" {
				t.Errorf("webhooks (-want +got):\n%s", diff)
			}
			if tc.sent.Generation != tc.wantGeneration {
				t.Errorf("got generation %d, want %d", tc.sent.Generation, tc.wantGeneration)
			}
		})
	}
}

// Validation sees what is left after conditions were dropped.
func TestValidationOfConditionsOfGate(t *testing.T) {
	some, wrong := []string{"true"}, []string{"1"}
	for name, tc := range map[string]struct {
		on           bool
		stored, sent configuration
		wantInvalid  bool
	}{
		"off: create":         {sent: demo(wrong)},
		"off: update":         {stored: demo(nil), sent: demo(wrong)},
		"off: stored, kept":   {stored: demo(wrong), sent: lenient(demo(wrong))},
		"off: stored, broken": {stored: demo(some), sent: demo(wrong), wantInvalid: true},
		"on: create":          {on: true, sent: demo(wrong), wantInvalid: true},
		"on: update":          {on: true, stored: demo(nil), sent: demo(wrong), wantInvalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionWebhookMatchConditions, tc.on)
			if err := write(tc.stored, tc.sent); apierrors.IsInvalid(err) != tc.wantInvalid || (err == nil) == tc.wantInvalid {
				t.Errorf("got error %v, want an invalid object: %v", err, tc.wantInvalid)
			}
		})
	}
}

// The server looks for what a strategy can do at run time: all that upstream's can has
// to be there, but for the methods of the scheme that it embeds.
func TestNothingOfUpstreamsIsLost(t *testing.T) {
	scheme, ours := reflect.TypeFor[*runtime.Scheme](), reflect.TypeFor[validatingwebhookconfiguration.Strategy]()
	for method := range reflect.TypeOf(upstream.Strategy).Methods() {
		_, found := ours.MethodByName(method.Name)
		if _, ofScheme := scheme.MethodByName(method.Name); !found && !ofScheme {
			t.Errorf("method %s is missing", method.Name)
		}
	}
}
