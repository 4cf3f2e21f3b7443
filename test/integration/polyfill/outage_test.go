// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

var load = flag.Duration("load", 4*time.Second, "time of the load during each change of replicas")

// rate is the number of writes per second.
const rate = 200

// noTwenty denies Deployments with 20 replicas.
const noTwenty = `
metadata: {name: limit.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - {expression: object.spec.replicas < 20, message: too many}
`

// tally counts the answers to writes. Safe for concurrent use.
type tally struct {
	sync.Mutex
	admitted, denied int
	failures         []string
}

// write sends a write that the policy admits, or one that it denies, and counts the answer.
func (r *tally) write(ctx context.Context, c *cluster, namespace string, allowed bool) {
	replicas := int32(20)
	if allowed {
		replicas = 1
	}
	err := c.deploy(ctx, namespace, replicas)
	r.Lock()
	defer r.Unlock()
	switch {
	case err == nil && allowed:
		r.admitted++
	case err != nil && !allowed && strings.Contains(err.Error(), "denied request: too many"):
		r.denied++
	default:
		r.failures = append(r.failures, fmt.Sprintf("allowed %t: %v", allowed, err))
	}
}

// under sends writes until do returns, and then for the time of the flag in all.
func (c *cluster) under(t *testing.T, namespace string, do func()) *tally {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &tally{}
	var writes sync.WaitGroup
	writes.Go(func() {
		ticker := time.NewTicker(time.Second / rate)
		defer ticker.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			select {
			case <-ticker.C:
				writes.Go(func() { r.write(context.WithoutCancel(ctx), c, namespace, i%2 == 0) })
			case <-ctx.Done():
			}
		}
	})
	for begin := time.Now(); time.Since(begin) < *load; {
		do()
	}
	cancel()
	writes.Wait()
	t.Logf("%d admitted, %d denied, %d failed", r.admitted, r.denied, len(r.failures))
	return r
}

// maxEnding is the number of replicas that may be ending at a time. They end when the API server has
// closed its connections, which it keeps for up to 90 seconds.
const maxEnding = 6

// No write fails while replicas are replaced, and none is admitted that a policy denies.
func TestRollingUpdate(t *testing.T) {
	c, namespace := withLimit(t)
	replicas := []*polyfillReplica{c.start(t), c.start(t)}
	for _, r := range replicas {
		r.awaitReady(t)
	}
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	ending, next := make(chan struct{}, maxEnding), 0
	r := c.under(t, namespace, func() {
		started := c.start(t)
		started.awaitReady(t)
		old := replicas[next%2]
		replicas[next%2] = started
		next++
		ending <- struct{}{}
		go func() {
			old.Stop(2 * time.Minute)
			<-ending
		}()
	})
	if len(r.failures) > 0 {
		t.Errorf("%d of the writes failed while %d replicas were replaced; the first: %s", len(r.failures), next, r.failures[0])
	}
}

// A replica that is killed takes the requests with it that it was answering, and those that arrive
// until the Service knows. None of them is admitted.
func TestKilledReplicas(t *testing.T) {
	c, namespace := withLimit(t)
	replicas := []*polyfillReplica{c.start(t), c.start(t)}
	for _, r := range replicas {
		r.awaitReady(t)
	}
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	killed := 0
	r := c.under(t, namespace, func() {
		if err := syscall.Kill(replicas[killed%2].PID(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		replicas[killed%2] = c.start(t)
		replicas[killed%2].awaitReady(t)
		killed++
	})
	for _, failure := range r.failures {
		if !strings.Contains(failure, "failed calling webhook") {
			t.Errorf("got %s", failure)
		}
	}
	t.Logf("%d replicas were killed", killed)
}

// If the leader is killed, another replica takes its place as soon as the lease ends, and registers
// what has changed since.
func TestKilledLeader(t *testing.T) {
	c, namespace := withLimit(t)
	flags := []string{"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"}
	leader := c.start(t, flags...)
	leader.awaitReady(t)
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	holder := func() string {
		lease := testserver.Must(c.Core.CoordinationV1().Leases(system).Get(t.Context(), service, metav1.GetOptions{}))(t)
		return *lease.Spec.HolderIdentity
	}
	killed := holder()
	c.start(t, flags...).awaitReady(t)
	if err := syscall.Kill(leader.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-leader.Done()
	if holder() != killed {
		t.Fatal("the replica that was killed did not lead")
	}
	// The other replica decides, and the policy then needs another webhook.
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	c.change(t, func(p *v1.ValidatingAdmissionPolicy) {
		p.Spec.MatchConstraints.ResourceRules[0].APIGroups, p.Spec.MatchConstraints.ResourceRules[0].Resources = []string{""}, []string{"configmaps"}
		p.Spec.Validations[0].Expression, p.Spec.Validations[0].Message = "false", "no config maps"
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := c.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "denied request: no config maps") {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})
	if holder() == killed {
		t.Error("nobody else leads")
	}
}

// No write fails while certificates and their authority are renewed.
func TestRotation(t *testing.T) {
	c, namespace := withLimit(t)
	for range 2 {
		c.start(t, "--certificate-authority-lifetime=30s", "--certificate-lifetime=20s", "--certificate-propagation=1s").awaitReady(t)
	}
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	authorities, leaves := map[string]bool{}, map[string]bool{}
	r := c.under(t, namespace, func() {
		for before := len(authorities); len(authorities) < before+2; time.Sleep(100 * time.Millisecond) {
			secret := testserver.Must(c.Core.CoreV1().Secrets(system).Get(t.Context(), service+"-certificates", metav1.GetOptions{}))(t)
			authorities[string(secret.Data["ca.crt"])], leaves[string(secret.Data["tls.crt"])] = true, true
		}
	})
	if len(r.failures) > 0 {
		t.Errorf("%d of the writes failed while the authority changed %d times and the certificate %d times; the first: %s",
			len(r.failures), len(authorities)-1, len(leaves)-1, r.failures[0])
	}
	t.Logf("the bundle changed %d times and the certificate %d times", len(authorities)-1, len(leaves)-1)
}

// withLimit returns a cluster with the policy limit, and a namespace. The flags are those of the
// kube-apiserver.
func withLimit(t *testing.T, flags ...string) (*cluster, string) {
	t.Helper()
	c := install(t, flags...)
	policies := c.polyfill.AdmissionregistrationV1()
	// The replicas that review writes of policies do not run yet, nor is there a webhook for them.
	policy := testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), parse[v1.ValidatingAdmissionPolicy](t, noTwenty), metav1.CreateOptions{}))(t)
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "limit"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	}, metav1.CreateOptions{}))(t)
	return c, c.Namespace(t, nil)
}
