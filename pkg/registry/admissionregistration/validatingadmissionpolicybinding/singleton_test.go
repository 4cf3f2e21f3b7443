// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicybinding_test

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

func TestBindingsOfSingletons(t *testing.T) {
	for name, tc := range map[string]struct {
		off          bool
		stored, sent *admissionregistration.ValidatingAdmissionPolicyBinding
		wantFields   []string
	}{
		"create":                            {sent: demo(policy("alone")), wantFields: []string{"spec.policyName"}},
		"create, access is not looked at":   {sent: demo(policy("alone"), paramName("hidden")), wantFields: []string{"spec.policyName"}},
		"create, another policy":            {sent: demo()},
		"create, no such policy":            {sent: demo(policy("other"))},
		"create, unreadable policy":         {sent: demo(policy("broken")), wantFields: []string{"spec.policyName"}},
		"create, invalid":                   {sent: demo(policy("alone"), actions()), wantFields: []string{"spec.validationActions"}},
		"update to it":                      {stored: demo(), sent: demo(policy("alone")), wantFields: []string{"spec.policyName"}},
		"update from it":                    {stored: demo(policy("alone")), sent: demo()},
		"update that stays with it":         {stored: demo(policy("alone")), sent: demo(policy("alone"), actions("Audit"))},
		"update of params only":             {stored: demo(policy("alone")), sent: demo(policy("alone"), paramName("hidden")), wantFields: []string{"spec.paramRef"}},
		"update to an unreadable policy":    {stored: demo(), sent: demo(policy("broken")), wantFields: []string{"spec.policyName"}},
		"gate off: create":                  {off: true, sent: demo(policy("alone"))},
		"gate off: create, unreadable":      {off: true, sent: demo(policy("broken"))},
		"gate off: update to it":            {off: true, stored: demo(), sent: demo(policy("alone"))},
		"gate off: update to an unreadable": {off: true, stored: demo(), sent: demo(policy("broken"))},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicySingleton, !tc.off)
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategy(), byAlice(), tc.sent)
			} else {
				err = rest.BeforeUpdate(strategy(), byAlice(), tc.sent, tc.stored)
			}
			expectCauses(t, err, tc.wantFields...)
		})
	}
}

func TestSingletonMessages(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicySingleton, true)
	for name, want := range map[string]string{
		"alone":  "spec.policyName: Forbidden: policy alone is a Singleton, which takes effect without a binding",
		"broken": "spec.policyName: Internal error: reading policy broken to see whether it is a Singleton: etcd is gone",
	} {
		err := rest.BeforeCreate(strategy(), byAlice(), demo(policy(name)))
		if err == nil || !strings.HasSuffix(err.Error(), `"demo" is invalid: `+want) {
			t.Errorf("got error %v, want one that ends in %s", err, want)
		}
	}
}
