// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"celador.io/admission/policytest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// A verdict takes effect at once on an Enforced policy.
func TestVerdicts(t *testing.T) {
	refused := func(why string) *metav1.Status {
		return refusal(403, "Forbidden", `policy "p" denied request: failed to configure policy: `+why)
	}
	for name, test := range map[string]struct {
		enforced, off    bool
		ignores          bool
		unchecked, wrong *metav1.Status
		changed          bool // despite type errors
	}{
		"enforced":         {enforced: true, unchecked: refused("policy has not been type checked yet"), wrong: refused("does not fit")},
		"ignored failures": {enforced: true, ignores: true},
		"gate off":         {enforced: true, off: true, changed: true},
		"not enforced":     {changed: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policytest.Mutating("p", policytest.SetData("b", "'2'"))
				p.UID, p.Generation = "a", 1
				if test.enforced {
					p.Spec.TypeChecking = new(v1.EnforcedTypeChecking)
				}
				if test.ignores {
					ignoring(p)
				}
				plugin := started(t, !test.off, p, bindingOf("p"))
				expect := func(what string, changed bool, want *metav1.Status) {
					t.Helper()
					data, status := create(t, plugin)
					if diff := cmp.Diff(want, status); diff != "" {
						t.Errorf("%s: status (-want +got):\n%s", what, diff)
					}
					if got := data["b"] == "2"; got != changed {
						t.Errorf("%s: the object is changed: %t, want %t", what, got, changed)
					}
				}
				expect("not checked", test.changed, test.unchecked)
				kind, verdicts := plugin.VerdictStore()
				if kind != "MutatingAdmissionPolicy" {
					t.Errorf("the verdict store is of kind %s", kind)
				}
				verdicts.SetVerdict("p", "a", 1, nil)
				expect("right", true, nil)
				verdicts.SetVerdict("p", "a", 1, errors.New("does not fit"))
				expect("wrong", test.changed, test.wrong)
				verdicts.SetVerdict("p", "a", 1, nil)
				expect("repaired", true, nil)
			})
		})
	}
}

func TestDisabledPluginTakesNoVerdicts(t *testing.T) {
	plugin := newPlugin(t, "")
	if err := newServer(t, false, true).initialize(plugin); err != nil {
		t.Fatal(err)
	}
	if _, store := plugin.VerdictStore(); store != nil {
		t.Errorf("got verdict store %v of a disabled plugin, want none", store)
	}
	if _, status := create(t, plugin); status != nil {
		t.Error(status)
	}
}
