// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"reflect"
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// The tests of the validation package cover what makes a binding invalid.
func TestBindingErrors(t *testing.T) {
	hidden, paramRef := paramName("hidden"), []string{"spec.paramRef"}
	for _, k := range bindingKinds {
		demo, invalid := k.demo, []string{k.invalidField}
		for name, tc := range map[string]struct {
			stored, sent policy.APIObject // a create if stored is nil
			wantFields   []string
		}{
			"create: no params":                        {sent: demo()},
			"create: readable object":                  {sent: demo(paramName("readable"))},
			"create: readable selection":               {sent: demo(paramsIn("readable"))},
			"create: unreadable object":                {sent: demo(hidden), wantFields: paramRef},
			"create: unreadable selection":             {sent: demo(paramsIn("hidden")), wantFields: paramRef},
			"create: unknown policy":                   {sent: demo(policyName("other"), paramName("readable")), wantFields: paramRef},
			"create: unknown policy, no params":        {sent: demo(policyName("other"))},
			"create: invalid":                          {sent: demo(k.invalid), wantFields: invalid},
			"create: reserved name":                    {sent: demo(named("demo.static.k8s.io")), wantFields: []string{"metadata.name"}},
			"create: invalid, access is not looked at": {sent: demo(hidden, k.invalid), wantFields: invalid},
			"update: invalid":                          {stored: demo(), sent: demo(k.invalid), wantFields: invalid},
			"update: params added":                     {stored: demo(), sent: demo(hidden), wantFields: paramRef},
			"update: params changed":                   {stored: demo(paramName("readable")), sent: demo(hidden), wantFields: paramRef},
			"update: same params of another policy":    {stored: demo(paramName("readable")), sent: demo(policyName("other"), paramName("readable")), wantFields: paramRef},
			"update: params kept":                      {stored: demo(hidden), sent: demo(hidden, label)},
			"update: selection kept":                   {stored: demo(paramsIn("hidden")), sent: demo(paramsIn("hidden"), label)},
			"update: rest changed, readable":           {stored: demo(paramName("readable")), sent: demo(paramName("readable"), k.other)},
			"update: rest changed, no params":          {stored: demo(), sent: demo(k.other)},
			"update: unreadable params, now invalid":   {stored: demo(hidden), sent: demo(hidden, k.invalid), wantFields: invalid},
			"update: rest changed, params removed":     {stored: demo(hidden), sent: demo(k.other)},
			"update: params removed":                   {stored: demo(hidden), sent: demo()},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				expectCauses(t, write(k.strategy, tc.stored, tc.sent), tc.wantFields...)
			})
		}
	}
}

// A user who changes any field of the spec may redirect messages about the params to other
// readers, so this list must contain every field.
func TestEveryChangeNeedsReadableParams(t *testing.T) {
	for _, gate := range fallbackGates {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, gate, true)
	}
	changes := map[string]change{
		"PolicyName":        policyName("other"),
		"ParamRef":          paramName("other"),
		"MatchResources":    matchPolicy(v1.Exact),
		"ValidationActions": actions(v1.Audit),
		"BindingType":       fallback,
	}
	for _, k := range bindingKinds {
		for field := range reflect.TypeOf(specOf(k.demo())).Fields() {
			changed, ok := changes[field.Name]
			if !ok {
				t.Errorf("%s: no change of field %s", k.name, field.Name)
				continue
			}
			for name, params := range map[string]change{"name": paramName("hidden"), "selector": paramsIn("hidden")} {
				t.Run(k.name+", "+field.Name+", "+name, func(t *testing.T) {
					expectCauses(t, write(k.strategy, k.demo(params), k.demo(params, changed)), "spec.paramRef")
				})
			}
		}
	}
}

// The gates of both kinds of bindings, in the order of bindingKinds.
var (
	fallbackGates  = []featuregate.Feature{features.ValidatingAdmissionPolicyFallbackBinding, features.MutatingAdmissionPolicyFallbackBinding}
	singletonGates = []featuregate.Feature{features.ValidatingAdmissionPolicySingleton, features.MutatingAdmissionPolicySingleton}
)

// While the gate of the field is off, no write adds the field to an object that does not have it,
// and no write loses a stored one.
func TestFallbackOfGate(t *testing.T) {
	for i, k := range bindingKinds {
		on, otherKind, demo := fallbackGates[i], fallbackGates[1-i], k.demo
		for name, tc := range map[string]gateCase{
			"off: create":                {sent: demo(fallback), want: demo(), wantGeneration: 1},
			"off: update":                {stored: demo(), sent: demo(fallback), want: demo(), wantGeneration: 7},
			"off: update of something":   {stored: demo(), sent: demo(fallback, k.other), want: demo(k.other), wantGeneration: 8},
			"off: stored, kept":          {stored: demo(fallback), sent: demo(fallback, k.other), want: demo(fallback, k.other), wantGeneration: 8},
			"off: stored, taken away":    {stored: demo(fallback), sent: demo(), want: demo(), wantGeneration: 8},
			"gate of other kind: create": {on: otherKind, sent: demo(fallback), want: demo(), wantGeneration: 1},
			"on: create":                 {on: on, sent: demo(fallback), want: demo(fallback), wantGeneration: 1},
			"on: update":                 {on: on, stored: demo(), sent: demo(fallback), want: demo(fallback), wantGeneration: 8},
			"on again: stored, kept":     {on: on, stored: demo(fallback), sent: demo(fallback, label), want: demo(fallback, label), wantGeneration: 7},
			"on: without":                {on: on, sent: demo(), want: demo(), wantGeneration: 1},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) { tc.run(t, k.strategy) })
		}
	}
}

func TestBindingsOfSingletons(t *testing.T) {
	alone, broken, wantPolicyName := policyName("alone"), policyName("broken"), []string{"spec.policyName"}
	for i, k := range bindingKinds {
		demo := k.demo
		for name, tc := range map[string]struct {
			off          bool
			stored, sent policy.APIObject // a create if stored is nil
			wantFields   []string
		}{
			"create":                            {sent: demo(alone), wantFields: wantPolicyName},
			"create, access is not looked at":   {sent: demo(alone, paramName("hidden")), wantFields: wantPolicyName},
			"create, another policy":            {sent: demo()},
			"create, no such policy":            {sent: demo(policyName("other"))},
			"create, unreadable policy":         {sent: demo(broken), wantFields: wantPolicyName},
			"create, invalid":                   {sent: demo(alone, k.invalid), wantFields: []string{k.invalidField}},
			"update to it":                      {stored: demo(), sent: demo(alone), wantFields: wantPolicyName},
			"update from it":                    {stored: demo(alone), sent: demo()},
			"update that stays with it":         {stored: demo(alone), sent: demo(alone, k.other)},
			"update of params only":             {stored: demo(alone), sent: demo(alone, paramName("hidden")), wantFields: []string{"spec.paramRef"}},
			"update to an unreadable policy":    {stored: demo(), sent: demo(broken), wantFields: wantPolicyName},
			"gate off: create":                  {off: true, sent: demo(alone)},
			"gate off: create, unreadable":      {off: true, sent: demo(broken)},
			"gate off: update to it":            {off: true, stored: demo(), sent: demo(alone)},
			"gate off: update to an unreadable": {off: true, stored: demo(), sent: demo(broken)},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, singletonGates[i], !tc.off)
				expectCauses(t, write(k.strategy, tc.stored, tc.sent), tc.wantFields...)
			})
		}
	}
}

func TestSingletonMessages(t *testing.T) {
	for i, k := range bindingKinds {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, singletonGates[i], true)
		for name, want := range map[string]string{
			"alone":  "spec.policyName: Forbidden: policy alone is a Singleton, which takes effect without a binding",
			"broken": "spec.policyName: Internal error: reading policy broken to see whether it is a Singleton: etcd is gone",
		} {
			err := write(k.strategy, nil, k.demo(policyName(name)))
			if err == nil || !strings.HasSuffix(err.Error(), `"demo" is invalid: `+want) {
				t.Errorf("%s: got error %v, want one that ends in %s", k.name, err, want)
			}
		}
	}
}
