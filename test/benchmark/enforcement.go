// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// changes is the number of bindings that S8 creates on each server.
	changes = 100
	// changeTimeout is the time within which a binding must be enforced.
	changeTimeout = time.Minute
)

// enforcement runs scenario S8: the time between the watch event of a new binding and the first
// request that is denied because of it, on a server with 10,000 other bindings.
func enforcement(s *session) error { return s.withHosts(s.enforcement) }

func (s *session) enforcement(ctx context.Context, hosts []*host) error {
	p50, p99 := map[string]float64{}, map[string]float64{}
	for _, h := range hosts {
		s.progress("S8: storing %d bindings for %s", crowdPolicies*crowdBindings, h.name)
		if err := h.store(ctx, crowd("tenant-0", "configmaps")); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	for _, h := range hosts {
		s.progress("S8: %d bindings on %s", changes, h.name)
		delays, err := h.delays(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		p50[h.name], p99[h.name] = measure.Percentile(delays, 50), measure.Percentile(delays, 99)
	}
	s.Add(report.Row{
		Scenario: "S8", About: "binding's event to denial, p99", Unit: report.Nanoseconds,
		Upstream: p99["upstream"], Celador: p99["celador"],
		Target: report.Target{Max: new(float64(10 * time.Millisecond))},
		Note:   fmt.Sprintf("p50: upstream %v, celador %v", rounded(p50["upstream"]), rounded(p50["celador"])),
	})
	return nil
}

// delays creates bindings and returns the nanoseconds until each was enforced.
func (h *host) delays(ctx context.Context) ([]float64, error) {
	policy := denyingAll("late", "configmaps")
	if err := h.addPolicy(ctx, policy); err != nil {
		return nil, err
	}
	bindings := h.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	// Without a resource version, the watch would begin with events of all present bindings.
	present, err := bindings.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	events, err := bindings.Watch(ctx, metav1.ListOptions{ResourceVersion: present.ResourceVersion})
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	var delays []float64
	for i := range changes {
		binding := forLabel(policy, i, "change", fmt.Sprint(i))
		if err := h.bind(ctx, binding); err != nil {
			return nil, err
		}
		if err := awaitEvent(events, binding.Name); err != nil {
			return nil, err
		}
		seen := time.Now()
		if err := h.awaitDenial(ctx, "change", fmt.Sprint(i)); err != nil {
			return nil, err
		}
		delays = append(delays, float64(time.Since(seen)))
		if err := h.unbind(ctx, binding); err != nil {
			return nil, err
		}
	}
	return delays, nil
}

// denyingAll returns a policy that denies every write of a resource. Its bindings decide which
// writes it matches.
func denyingAll(name, resource string) *v1.ValidatingAdmissionPolicy {
	return input.PolicyOf(name, resource, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false"}}})
}

// forLabel returns the i-th binding of a policy. It matches only objects with the label.
func forLabel(policy *v1.ValidatingAdmissionPolicy, i int, key, value string) *v1.ValidatingAdmissionPolicyBinding {
	binding := input.MatchingBinding(policy, i)
	binding.Spec.MatchResources.ObjectSelector.MatchLabels = map[string]string{key: value}
	return binding
}

// awaitEvent waits for the event of a new binding.
func awaitEvent(events watch.Interface, name string) error {
	deadline := time.After(changeTimeout)
	for {
		select {
		case event, ok := <-events.ResultChan():
			if !ok {
				return errors.New("the watch has ended")
			}
			binding, ok := event.Object.(*v1.ValidatingAdmissionPolicyBinding)
			if ok && event.Type == watch.Added && binding.Name == name {
				return nil
			}
		case <-deadline:
			return fmt.Errorf("no event shows %s", name)
		}
	}
}

// awaitDenial sends dry-run requests for a ConfigMap with the label until one is denied. Callers
// measure how long that takes, so the object is small and each request is fast.
func (h *host) awaitDenial(ctx context.Context, key, value string) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-", Labels: map[string]string{key: value}}}
	for deadline := time.Now().Add(changeTimeout); time.Now().Before(deadline); {
		_, err := h.core.CoreV1().ConfigMaps(input.NamespaceName).Create(ctx, object, dryRun)
		if apierrors.IsInvalid(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("requests with label %s=%s are still admitted after %v", key, value, changeTimeout)
}
