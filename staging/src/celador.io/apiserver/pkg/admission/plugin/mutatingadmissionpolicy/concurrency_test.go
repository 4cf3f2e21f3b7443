// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

// While clients update a policy, each request is subject to one version of the policy, which
// was written and is no older than the version that an earlier request was subject to. The last
// version takes effect.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	const updates, requests = 40, 40
	version := func(n int64) string { return fmt.Sprintf("'%d'", n) }
	policy := func(n int64) (p *v1.MutatingAdmissionPolicy) {
		p = policytest.Mutating("p", policytest.SetData("x", version(n)), policytest.SetData("y", version(n)))
		p.Generation = n
		return p
	}
	s := newServer(t, true, false)
	client := fake.NewSimpleClientset(policy(1), bindingOf("p"))
	s.policies, s.policyInformers = client, informers.NewSharedInformerFactory(client, 0)
	plugin := newPlugin(t, "")
	if err := s.initialize(plugin); err != nil {
		t.Fatal(err)
	}
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)

	var written atomic.Int64
	written.Store(1)
	// see returns the version that a request sees, or 0 while the plugin has no schema.
	see := func() int64 {
		data, status := create(t, plugin)
		if status != nil {
			if status.Reason != metav1.StatusReasonServiceUnavailable {
				t.Errorf("got %v", status)
			}
			return 0
		}
		seen, err := strconv.ParseInt(data["x"], 10, 64)
		if err != nil || data["x"] != data["y"] || seen > written.Load() {
			t.Errorf("data is %v, version %d is written", data, written.Load())
		}
		return seen
	}
	until := func(n int64) {
		err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return see() == n, nil })
		if err != nil {
			t.Fatalf("version %d does not take effect: %v", n, err)
		}
	}
	until(1)

	var all sync.WaitGroup
	all.Go(func() {
		policies := client.AdmissionregistrationV1().MutatingAdmissionPolicies()
		for range updates {
			n := written.Add(1)
			if _, err := policies.Update(t.Context(), policy(n), metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		all.Go(func() {
			last := int64(1)
			for range requests {
				seen := see()
				if seen < last {
					t.Errorf("a request sees version %d after one that saw %d", seen, last)
				}
				last = max(last, seen)
			}
		})
	}
	all.Wait()
	until(updates + 1)
}
