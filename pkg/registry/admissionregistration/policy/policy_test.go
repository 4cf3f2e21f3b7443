// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// The tests of the validation package cover what makes a policy invalid.
func TestPolicyErrors(t *testing.T) {
	for _, k := range policyKinds {
		demo, invalid := k.demo, []string{k.invalidField}
		for name, tc := range map[string]struct {
			stored, sent policy.APIObject // a create if stored is nil
			wantFields   []string
		}{
			"create: valid, readable params":           {sent: demo(params("ConfigMap"))},
			"create: invalid":                          {sent: demo(k.invalid), wantFields: invalid},
			"create: reserved name":                    {sent: demo(named("demo.static.k8s.io")), wantFields: []string{"metadata.name"}},
			"create: unreadable params":                {sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
			"create: unknown params":                   {sent: demo(params("Unheard")), wantFields: []string{"spec.paramKind"}},
			"create: invalid, access is not looked at": {sent: demo(params("Secret"), k.invalid), wantFields: invalid},
			"update: invalid":                          {stored: demo(), sent: demo(k.invalid), wantFields: invalid},
			"update: params added":                     {stored: demo(), sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
			"update: params changed":                   {stored: demo(params("ConfigMap")), sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
			"update: params kept":                      {stored: demo(params("Secret")), sent: demo(params("Secret"), label)},
			"update: params removed":                   {stored: demo(params("Secret")), sent: demo()},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				expectCauses(t, write(k.strategy, tc.stored, tc.sent), tc.wantFields...)
			})
		}
	}
}

// While the gate of a field is off, no write adds the field to an object that does not have it, and
// no write loses a stored one. Dropped fields are not validated.
func TestTypeCheckingOfGate(t *testing.T) {
	const on = features.AdmissionPolicyTypeEnforcement
	enforced, informational, mistaken := typeChecking(v1.EnforcedTypeChecking), typeChecking(v1.InformationalTypeChecking), typeChecking("Strict")
	wantFields := []string{"spec.typeChecking"}
	for _, k := range policyKinds {
		demo := k.demo
		for name, tc := range map[string]gateCase{
			"off: create":              {sent: demo(enforced), want: demo(), wantGeneration: 1},
			"off: create with default": {sent: demo(informational), want: demo(), wantGeneration: 1},
			"off: update":              {stored: demo(), sent: demo(enforced), want: demo(), wantGeneration: 7},
			"off: stored, kept":        {stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced), wantGeneration: 7},
			"off: stored, changed":     {stored: demo(enforced), sent: demo(informational), want: demo(informational), wantGeneration: 8},
			"off: stored, taken away":  {stored: demo(enforced), sent: demo(), want: demo(), wantGeneration: 8},
			"off: stored, mistaken":    {stored: demo(enforced), sent: demo(mistaken), want: demo(mistaken), wantFields: wantFields},
			"off: mistaken":            {sent: demo(mistaken), want: demo(), wantGeneration: 1},
			"on: create":               {on: on, sent: demo(enforced), want: demo(enforced), wantGeneration: 1},
			"on: create without":       {on: on, sent: demo(), want: demo(), wantGeneration: 1},
			"on: update":               {on: on, stored: demo(), sent: demo(enforced), want: demo(enforced), wantGeneration: 8},
			"on: mistaken":             {on: on, sent: demo(mistaken), want: demo(mistaken), wantFields: wantFields},
			"on: update, mistaken":     {on: on, stored: demo(), sent: demo(mistaken), want: demo(mistaken), wantFields: wantFields},
			"on again: stored, kept":   {on: on, stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced), wantGeneration: 7},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) { tc.run(t, k.strategy) })
		}
	}
}
