// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookconfiguration_test

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
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"

	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/webhookconfiguration"
)

// kind is a kind of webhook configurations.
type kind struct {
	name     string
	strategy webhookconfiguration.Strategy
	upstream any // Kubernetes' strategy
	object   func(configuration) object
	webhooks func(object) any
}

type object interface {
	runtime.Object
	metav1.Object
}

var kinds = []kind{{
	name:     "validating",
	strategy: webhookconfiguration.NewValidatingStrategy(),
	upstream: validatingwebhookconfiguration.Strategy,
	object: func(c configuration) object {
		object := &admissionregistration.ValidatingWebhookConfiguration{ObjectMeta: c.meta()}
		for i, w := range c.webhooks {
			object.Webhooks = append(object.Webhooks, admissionregistration.ValidatingWebhook{
				Name: letter(i) + ".example.com", MatchConditions: w.conditions, FailurePolicy: w.failurePolicy,
				ClientConfig: client, AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistration.SideEffectClassNone),
			})
		}
		return object
	},
	webhooks: func(o object) any { return o.(*admissionregistration.ValidatingWebhookConfiguration).Webhooks },
}, {
	name:     "mutating",
	strategy: webhookconfiguration.NewMutatingStrategy(),
	upstream: mutatingwebhookconfiguration.Strategy,
	object: func(c configuration) object {
		object := &admissionregistration.MutatingWebhookConfiguration{ObjectMeta: c.meta()}
		for i, w := range c.webhooks {
			object.Webhooks = append(object.Webhooks, admissionregistration.MutatingWebhook{
				Name: letter(i) + ".example.com", MatchConditions: w.conditions, FailurePolicy: w.failurePolicy,
				ClientConfig: client, AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistration.SideEffectClassNone),
			})
		}
		return object
	},
	webhooks: func(o object) any { return o.(*admissionregistration.MutatingWebhookConfiguration).Webhooks },
}}

var client = admissionregistration.WebhookClientConfig{URL: new("https://127.0.0.1:1/")}

func letter(i int) string { return string(rune('a' + i)) }

// configuration describes a valid configuration of either kind as a request contains it.
type configuration struct {
	labels   map[string]string
	webhooks []webhook
}

type webhook struct {
	conditions    []admissionregistration.MatchCondition
	failurePolicy *admissionregistration.FailurePolicyType
}

func (c configuration) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: "demo", UID: "7", ResourceVersion: "1", CreationTimestamp: metav1.Unix(1, 0), Generation: 7, Labels: c.labels}
}

// demo returns a configuration with a webhook for each list of expressions.
func demo(conditions ...[]string) *configuration {
	c := &configuration{}
	for _, expressions := range conditions {
		var w webhook
		for i, expression := range expressions {
			w.conditions = append(w.conditions, admissionregistration.MatchCondition{Name: letter(i), Expression: expression})
		}
		c.webhooks = append(c.webhooks, w)
	}
	return c
}

func labelled(c *configuration) *configuration {
	c.labels = map[string]string{"team": "blue"}
	return c
}

func lenient(c *configuration) *configuration {
	for i := range c.webhooks {
		c.webhooks[i].failurePolicy = new(admissionregistration.Ignore)
	}
	return c
}

func emptyList(c *configuration) *configuration {
	c.webhooks[0].conditions = []admissionregistration.MatchCondition{}
	return c
}

// write creates sent, or updates stored to sent unless stored is nil. It returns the object to be
// stored.
func (k kind) write(stored, sent *configuration) (object, error) {
	ctx := request.WithNamespace(context.Background(), "")
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: "admissionregistration.k8s.io", APIVersion: "v1"})
	written := k.object(*sent)
	if stored == nil {
		return written, rest.BeforeCreate(k.strategy, ctx, written)
	}
	return written, rest.BeforeUpdate(k.strategy, ctx, written, k.object(*stored))
}

// While the gate is off, no write adds match conditions to a configuration that has none, and no
// write loses stored ones.
func TestConditionsOfGate(t *testing.T) {
	none, some, other := []string(nil), []string{"true"}, []string{"false"}
	for _, k := range kinds {
		for name, tc := range map[string]struct {
			on                 bool
			stored, sent, want *configuration // a create if stored is nil
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
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionWebhookMatchConditions, tc.on)
				written, err := k.write(tc.stored, tc.sent)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(k.webhooks(k.object(*tc.want)), k.webhooks(written)); diff != "" {
					t.Errorf("webhooks (-want +got):\n%s", diff)
				}
				if got := written.GetGeneration(); got != tc.wantGeneration {
					t.Errorf("got generation %d, want %d", got, tc.wantGeneration)
				}
			})
		}
	}
}

// Dropped conditions are not validated.
func TestValidationOfConditionsOfGate(t *testing.T) {
	some, invalid := []string{"true"}, []string{"1"}
	for _, k := range kinds {
		for name, tc := range map[string]struct {
			on           bool
			stored, sent *configuration
			wantInvalid  bool
		}{
			"off: create":         {sent: demo(invalid)},
			"off: update":         {stored: demo(nil), sent: demo(invalid)},
			"off: stored, kept":   {stored: demo(invalid), sent: lenient(demo(invalid))},
			"off: stored, broken": {stored: demo(some), sent: demo(invalid), wantInvalid: true},
			"on: create":          {on: true, sent: demo(invalid), wantInvalid: true},
			"on: update":          {on: true, stored: demo(nil), sent: demo(invalid), wantInvalid: true},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionWebhookMatchConditions, tc.on)
				if _, err := k.write(tc.stored, tc.sent); apierrors.IsInvalid(err) != tc.wantInvalid || (err == nil) == tc.wantInvalid {
					t.Errorf("got error %v, want an invalid object: %v", err, tc.wantInvalid)
				}
			})
		}
	}
}

// The server finds the abilities of a strategy by type assertions, so Strategy must have every
// method of Kubernetes' strategies. Methods of the scheme that those embed are not needed.
func TestNothingOfUpstreamsIsLost(t *testing.T) {
	scheme, ours := reflect.TypeFor[*runtime.Scheme](), reflect.TypeFor[webhookconfiguration.Strategy]()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for method := range reflect.TypeOf(k.upstream).Methods() {
				_, found := ours.MethodByName(method.Name)
				if _, ofScheme := scheme.MethodByName(method.Name); !found && !ofScheme {
					t.Errorf("method %s is missing", method.Name)
				}
			}
		})
	}
}
