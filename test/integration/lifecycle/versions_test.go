// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"

	"celador.io/celador/test/integration/testserver"
)

// statusIntroduced is the first version in which Celador's mutating policies have a status.
var statusIntroduced = version.MajorMinor(1, 37)

// TestEmulatedVersions runs Celador's server and Kubernetes' with each --emulated-version and each
// --min-compatibility-version that kube-apiserver accepts, and compares their API groups.
func TestEmulatedVersions(t *testing.T) {
	effective, tested := compatibility.DefaultBuildEffectiveVersion(), 0
	for minor := range effective.BinaryVersion().Minor() + 1 {
		emulated := version.MajorMinor(1, minor)
		for compatible := range minor + 1 {
			minimum := version.MajorMinor(1, compatible)
			effective.SetEmulationVersion(emulated)
			effective.SetMinCompatibilityVersion(minimum)
			if len(effective.Validate()) > 0 {
				continue // the server does not start
			}
			tested++
			t.Run(fmt.Sprintf("%s compatible with %s", emulated, minimum), func(t *testing.T) {
				t.Parallel()
				compare(t, emulated, "--emulated-version="+emulated.String(), "--min-compatibility-version="+minimum.String(),
					"--runtime-config=api/all=true", "--storage-media-type=application/json")
			})
			if compatible == minor {
				t.Run(fmt.Sprintf("%s with defaults", emulated), func(t *testing.T) {
					t.Parallel()
					compare(t, emulated, "--emulated-version="+emulated.String())
				})
			}
		}
	}
	t.Run("forward compatible", func(t *testing.T) {
		t.Parallel()
		compare(t, version.MajorMinor(1, 35), "--emulated-version=1.35", "--emulation-forward-compatible", "--feature-gates=MutatingAdmissionPolicy=true",
			"--runtime-config="+group+"/v1beta1=true")
	})
	if tested == 0 {
		t.Errorf("no version is accepted, want %s", effective.AllowedEmulationVersionRange())
	}
}

// compare runs both servers with the flags and compares their API groups. The only difference is
// the status of mutating policies, since the version that introduced it.
func compare(t *testing.T, emulated *version.Version, flags ...string) {
	stock, ours := start(t, kubernetes, flags...), start(t, celador, flags...)
	stock.AwaitReady(t)
	ours.AwaitReady(t)

	withStatus := emulated.AtLeast(statusIntroduced)
	want, got := stock.behavior(t), ours.behavior(t)
	if withStatus {
		for path, list := range want.Versions {
			want.Versions[path] = addStatus(list)
		}
		for at := range want.Sizes {
			if strings.HasSuffix(at, "/"+mutatingPolicies) {
				delete(want.Sizes, at)
				delete(got.Sizes, at)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the group (-Kubernetes +us):\n%s", diff)
	}
	if len(want.Stored) == 0 || len(want.Gates) == 0 {
		t.Errorf("%d objects are stored, and there are %d gates, want some", len(want.Stored), len(want.Gates))
	}
	// The aggregator collects documents in the background.
	testserver.Eventually(t, func(ctx context.Context) error {
		want, wantErr := stock.aggregated(ctx)
		got, gotErr := ours.aggregated(ctx)
		if err := errors.Join(wantErr, gotErr); err != nil {
			return err
		}
		if withStatus {
			addAggregatedStatus(want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("aggregated discovery (-Kubernetes +us):\n%s", diff)
		}
		return nil
	})
	ours.expectStatus(t, got, withStatus)
}

// addStatus returns the discovery document of an API version with the status of mutating policies,
// if the version has such policies.
func addStatus(list metav1.APIResourceList) metav1.APIResourceList {
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == mutatingPolicies })
	if i < 0 {
		return list
	}
	status := metav1.APIResource{Name: mutatingPolicies + "/status", Kind: "MutatingAdmissionPolicy", Verbs: metav1.Verbs{"get", "patch", "update"}}
	list.APIResources = slices.Insert(slices.Clone(list.APIResources), i+1, status)
	return list
}

// addAggregatedStatus adds the status of mutating policies to the aggregated document.
func addAggregatedStatus(group *apidiscoveryv2.APIGroupDiscovery) {
	for _, version := range group.Versions {
		for i, resource := range version.Resources {
			if resource.Resource == mutatingPolicies {
				version.Resources[i].Subresources = []apidiscoveryv2.APISubresourceDiscovery{{
					Subresource: "status", ResponseKind: &metav1.GroupVersionKind{Kind: "MutatingAdmissionPolicy"}, Verbs: []string{"get", "patch", "update"},
				}}
			}
		}
	}
}

// expectStatus waits until the status controller has written the status of a validating policy,
// which was created after all mutating policies of its version. The controller must write the
// status of these too if they have one, and must not try it otherwise.
func (s *server) expectStatus(t *testing.T, seen behavior, withStatus bool) {
	t.Helper()
	awaitSecondWrite := func(key string) {
		testserver.Eventually(t, func(context.Context) error {
			if _, writes := s.stored(t, key); writes < 2 {
				return fmt.Errorf("%s has no status yet", key)
			}
			return nil
		})
	}
	awaitSecondWrite("/validatingadmissionpolicies/v1-validatingadmissionpolicies")
	for at := range seen.Stored {
		apiVersion, resource, _ := strings.Cut(at, "/")
		if resource != mutatingPolicies {
			continue
		}
		key := "/" + resource + "/" + apiVersion + "-" + resource
		if withStatus {
			awaitSecondWrite(key)
		} else if _, writes := s.stored(t, key); writes > 1 {
			t.Errorf("%s was written %d times, want once", key, writes)
		}
	}
	metrics, err := s.client.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, "celador_admission_policy_status_sync_errors_total") && !strings.HasSuffix(line, " 0\n") {
			t.Errorf("the status controller had errors: %s", line)
		}
	}
}
