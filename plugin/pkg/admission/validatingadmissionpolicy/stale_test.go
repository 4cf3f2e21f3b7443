// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

// Requests that a policy with failurePolicy Fail may match fail while policies may be older than
// the limit. Others are not affected.
func TestStalePolicies(t *testing.T) {
	const stale = "because it has not heard from etcd, and may be up to 5s old: try again or use another server"
	for name, tc := range map[string]struct {
		failurePolicy v1.FailurePolicyType
		resource      string
		limit         time.Duration
		want          string
	}{
		"fail":              {v1.Fail, "deployments", 5 * time.Second, stale},
		"ignore":            {v1.Ignore, "deployments", 5 * time.Second, ""},
		"another resource":  {v1.Fail, "statefulsets", 5 * time.Second, ""},
		"no limit":          {v1.Fail, "deployments", 0, ""},
		"longer than stuck": {v1.Fail, "deployments", time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := atMost("few", "5")
				policy.Spec.FailurePolicy = &tc.failurePolicy
				policy.Spec.MatchConstraints.ResourceRules[0].Resources = []string{tc.resource}
				s, plugin := newServer(t, policy, policytest.Binding("few", "few")), newPlugin(t)
				var checked sync.Map
				var stuck atomic.Bool
				s.freshness = policyinit.FreshnessBound{Limit: tc.limit, Check: func(_ context.Context, resource, _ string) error {
					checked.Store(resource, true)
					if stuck.Load() {
						return errors.New("stuck")
					}
					return nil
				}}
				s.initialize(t, plugin)
				s.start()
				<-time.After(time.Minute)
				synctest.Wait()
				if err := plugin.Validate(t.Context(), create(3), interfaces()); err != nil {
					t.Errorf("while etcd answers: %v", err)
				}
				for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"} {
					if _, ok := checked.Load(resource); ok != (tc.limit > 0) {
						t.Errorf("%s is checked: %t", resource, ok)
					}
				}
				stuck.Store(true)
				<-time.After(time.Minute)
				synctest.Wait()
				if got := text(plugin.Validate(t.Context(), create(3), interfaces())); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
					t.Errorf("got error %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Requests that a policy with failurePolicy Fail and a paramKind may match fail while the params
// may be older than the limit.
func TestStaleParams(t *testing.T) {
	const stale = "the params of kind ConfigMap in v1 that this server knows are"
	for name, tc := range map[string]struct {
		failurePolicy v1.FailurePolicyType
		resource      string
		paramKind     *v1.ParamKind
		want          string
	}{
		"fail":             {v1.Fail, "deployments", configMapParams, stale},
		"ignore":           {v1.Ignore, "deployments", configMapParams, ""},
		"another resource": {v1.Fail, "statefulsets", configMapParams, ""},
		"no params":        {v1.Fail, "deployments", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := atMost("few", "5")
				policy.Spec.FailurePolicy = &tc.failurePolicy
				policy.Spec.ParamKind = tc.paramKind
				policy.Spec.MatchConstraints.ResourceRules[0].Resources = []string{tc.resource}
				// The params of a policy that matches nothing are watched, too.
				other := atMost("other", "5")
				other.Spec.ParamKind = configMapParams
				other.Spec.MatchConstraints.ResourceRules[0].Resources = []string{"jobs"}
				s, plugin := newServer(t, policy, policytest.Binding("few", "few"), other, policytest.Binding("other", "other")), newPlugin(t)
				s.kube.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}}}
				s.freshness = policyinit.FreshnessBound{Limit: 5 * time.Second, Check: func(context.Context, string, string) error { return nil }}
				s.initialize(t, plugin)
				var silent atomic.Bool
				s.params.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
					return silent.Load(), nil, errors.New("no progress")
				})
				s.start()
				<-time.After(time.Minute)
				synctest.Wait()
				if err := plugin.Validate(t.Context(), create(3), interfaces()); err != nil {
					t.Errorf("while the watch of params goes on: %v", err)
				}
				silent.Store(true)
				<-time.After(time.Minute)
				synctest.Wait()
				if got := text(plugin.Validate(t.Context(), create(3), interfaces())); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
					t.Errorf("got error %q, want %q", got, tc.want)
				}
			})
		})
	}
}

var configMapParams = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
