// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "celador.io/api/admissionregistration/v1"
)

// While clients update a policy, each request is subject to one version of the policy, which
// was written and is no older than the version that an earlier request was subject to. The last
// version takes effect.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	const updates, requests = 40, 40
	policy := func(n int64) *v1.ValidatingAdmissionPolicy {
		text := strconv.FormatInt(n, 10)
		p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
			{Expression: "object.spec.replicas < 0", Message: text},
			{Expression: "false", MessageExpression: "string(object.spec.replicas - object.spec.replicas + " + text + ")"},
		}})
		p.Generation, p.ResourceVersion = n, text
		return p
	}
	s := newServer(t, policy(1), policytest.Binding("b", "p", v1.Warn))
	plugin := newPlugin(t)
	s.initialize(t, plugin)
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)

	var written atomic.Int64
	written.Store(1)
	// see returns the version that a request sees.
	see := func() int64 {
		got := send(t, plugin, create(1), interfaces())
		if got.Err != nil || len(got.Warnings) != 2 {
			t.Errorf("got %v, warnings %q", got.Err, got.Warnings)
			return 0
		}
		const prefix = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': "
		seen, err := strconv.ParseInt(strings.TrimPrefix(got.Warnings[0], prefix), 10, 64)
		if err != nil || got.Warnings[0] != got.Warnings[1] || seen > written.Load() {
			t.Errorf("warnings are %q, version %d is written", got.Warnings, written.Load())
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
		policies := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
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
