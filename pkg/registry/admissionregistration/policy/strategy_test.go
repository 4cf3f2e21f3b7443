// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetesfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

func TestCreate(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			created := k.demo()
			if err := write(k.strategy, nil, created); err != nil {
				t.Fatal(err)
			}
			if got := created.GetGeneration(); got != 1 {
				t.Errorf("got generation %d, want 1", got)
			}
			if diff := cmp.Diff(v1.ValidatingAdmissionPolicyStatus{}, statusOf(created)); diff != "" {
				t.Errorf("status of a new object (-want +got):\n%s", diff)
			}
		})
	}
}

type update struct {
	change         change
	wantGeneration int64
}

func TestUpdate(t *testing.T) {
	for _, k := range kinds() {
		cases := map[string]update{
			"spec":               {k.other, 8},
			"generation by hand": {func(obj policy.APIObject) { obj.SetGeneration(99) }, 7},
			"metadata":           {label, 7},
		}
		if k.storesStatus() {
			cases["empty list instead of none"] = update{noVariables, 7}
		}
		for name, tc := range cases {
			t.Run(k.name+", "+name, func(t *testing.T) {
				stored, updated := k.demo(), k.demo(tc.change, otherStatus)
				if err := write(k.strategy, stored, updated); err != nil {
					t.Fatal(err)
				}
				if got := updated.GetGeneration(); got != tc.wantGeneration {
					t.Errorf("got generation %d, want %d", got, tc.wantGeneration)
				}
				if diff := cmp.Diff(statusOf(stored), statusOf(updated)); diff != "" {
					t.Errorf("a spec write changed the status (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func (k descriptor) storesStatus() bool { return len(k.strategy.GetResetFields()) > 0 }

func otherStatus(obj policy.APIObject) {
	switch p := obj.(type) {
	case *admissionregistration.ValidatingAdmissionPolicy:
		p.Status = observed(42)
	case *admissionregistration.MutatingAdmissionPolicy:
		p.Status = v1.MutatingAdmissionPolicyStatus(observed(42))
	}
}

func TestAccessMessage(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			err := write(k.strategy, nil, k.demo(k.hidden))
			want := k.name + `.admissionregistration.k8s.io "demo" is invalid: ` + k.hiddenError
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			recorder := &warnings{}
			ctx := warning.WithWarningRecorder(byAlice(), recorder)
			if err := rest.BeforeUpdate(k.strategy, ctx, k.demo(named("demo.static.k8s.io")), k.demo(named("demo.static.k8s.io"))); err != nil {
				t.Fatal(err)
			}
			if len(recorder.texts) != 1 || !strings.HasPrefix(recorder.texts[0], "metadata.name: ") {
				t.Errorf("got warnings %q, want one about metadata.name", recorder.texts)
			}
		})
	}
}

type warnings struct{ texts []string }

func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

func TestStaticNames(t *testing.T) {
	for _, k := range kinds() {
		for name, tc := range map[string]struct {
			gate                       bool
			name                       string
			errors, onCreate, onUpdate int
		}{
			"ordinary, gate on":  {gate: true, name: "demo.example.com"},
			"ordinary, gate off": {name: "demo.example.com"},
			"static, gate on":    {gate: true, name: "demo.static.k8s.io", errors: 1, onUpdate: 1},
			"static, gate off":   {name: "demo.static.k8s.io", onCreate: 1, onUpdate: 1},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, kubernetesfeatures.ManifestBasedAdmissionControlConfig, tc.gate)
				obj := k.demo(named(tc.name))
				if errs := k.strategy.Validate(byAlice(), obj); len(errs) != tc.errors {
					t.Errorf("got errors %v, want %d", errs, tc.errors)
				}
				if warnings := k.strategy.WarningsOnCreate(byAlice(), obj); len(warnings) != tc.onCreate {
					t.Errorf("got warnings on create %v, want %d", warnings, tc.onCreate)
				}
				if warnings := k.strategy.WarningsOnUpdate(byAlice(), obj, obj); len(warnings) != tc.onUpdate {
					t.Errorf("got warnings on update %v, want %d", warnings, tc.onUpdate)
				}
			})
		}
	}
}
