// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

const rounds = 200

// TestLatency prints how long after a client received a binding from a watch the server first
// denied a request because of the binding.
func TestLatency(t *testing.T) {
	ns := admin.Namespace(t, nil)
	policy := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false"}]`)
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()

	times, requests := make([]time.Duration, rounds), 0
	for i := range times {
		label := testserver.UniqueName("round")
		by := denier{policy, bind(t, policy, `{matchResources: {objectSelector: {matchLabels: {round: `+label+`}}}}`)}
		awaitAdded(t, events, by.binding)
		seen := time.Now()
		var denied error
		for denied == nil && time.Since(seen) < time.Minute {
			requests++
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"round": label}}}
			_, denied = core.CoreV1().ConfigMaps(ns).Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		}
		times[i] = time.Since(seen)
		by.expectInvalid(t, denied, "failed expression: false")
		testserver.ExpectAdmitted(t, client.Delete(t.Context(), by.binding, metav1.DeleteOptions{}))
	}
	slices.Sort(times)
	t.Logf("binding watch event to first denial: p50=%v p99=%v (%d rounds, %d requests)",
		times[rounds/2].Round(10*time.Microsecond), times[rounds*99/100].Round(10*time.Microsecond), rounds, requests)
}

// awaitAdded waits for the event that adds the binding.
func awaitAdded(t *testing.T, events watch.Interface, name string) {
	t.Helper()
	for event := range events.ResultChan() {
		if binding, ok := event.Object.(*v1.ValidatingAdmissionPolicyBinding); ok && event.Type == watch.Added && binding.Name == name {
			return
		}
	}
	t.Fatalf("the watch ended before it showed %s", name)
}
