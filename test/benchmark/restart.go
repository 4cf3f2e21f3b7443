// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/benchmark/controlplane"
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/report"
)

const (
	// keptPolicies is the number of policies in the store of scenario S15, each with one binding.
	keptPolicies = 10_000
	// restarts is the number of times that S15 starts each server.
	restarts = 2
	// decisionTimeout is the time within which a started server must decide requests. A single
	// request may take as long as requestTimeout, because it waits for up to ten seconds for a
	// plugin that is not ready.
	decisionTimeout = 10 * time.Minute
	requestTimeout  = time.Minute
	// idleTimeout is the time after the first decision within which a server must become idle.
	idleTimeout = 30 * time.Second
)

// restart runs scenario S15: the time from the start of a server with many policies in its store to
// its first correct decision, and its memory at that time. Only one server runs at a time.
func restart(s *session) error { return s.withHosts(s.restart) }

func (s *session) restart(ctx context.Context, hosts []*host) error {
	kept := keeping(keptPolicies)
	for _, h := range hosts {
		s.progress("S15: storing %d policies for %s", keptPolicies, h.name)
		h.Halt()
		if err := h.write(ctx, kept); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	starts := make([]starts, len(hosts))
	for round := range restarts {
		for i, h := range hosts {
			s.progress("S15: start %d of %s", round+1, h.name)
			if err := h.start(ctx, &starts[i]); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
	}
	if wrong := starts[1].admitted; wrong > 0 {
		return fmt.Errorf("celador has admitted %d objects, although it was ready, that a policy denies", wrong)
	}
	all, distinct := kept.Expressions()
	s.Add(report.Row{
		Scenario: "S15", About: "restart with 10,000 policies", Unit: report.Nanoseconds,
		Upstream: slices.Min(starts[0].took), Celador: slices.Min(starts[1].took), Target: report.Target{Times: 5},
		Note: fmt.Sprintf("best of %d starts; %d expressions, %d of them distinct; wrong decisions of a ready server: upstream %d, celador 0", restarts, all, distinct, starts[0].admitted),
	})
	var notes []string
	for i := range starts {
		notes = append(notes, fmt.Sprintf("%s: %s once idle, %s at the most", plugins[i],
			report.Bytes.Format(slices.Min(starts[i].idle)), report.Bytes.Format(slices.Min(starts[i].peak))))
	}
	s.Add(report.Row{
		Scenario: "S15", About: "resident memory", Unit: report.Bytes,
		Upstream: slices.Min(starts[0].resident), Celador: slices.Min(starts[1].resident), Target: report.Target{Times: 5},
		Note: strings.Join(notes, "; "),
	})
	return nil
}

// keeping returns policies with one binding each, for different namespaces. Only the last policy
// matches the requests, and it denies all of them, so that a server which has read only some of the
// policies does not pass for one that decides.
func keeping(policies int) input.Cluster {
	var cluster input.Cluster
	for i := range policies - 1 {
		policy := input.RealisticPolicy(i)
		cluster.Add(policy, input.Binding(policy, 0, corev1.LabelMetadataName, fmt.Sprintf("tenant-%d", i)))
	}
	last := denyingAll("the-last", "deployments") // sorts after the others
	cluster.Add(last, input.MatchingBinding(last, 0))
	for _, policy := range cluster.Policies {
		policy.Status = settled(policy.Generation)
	}
	return cluster
}

// settled returns the status that Celador writes to a policy without type errors. Policies in the
// store have it, as if an earlier run of the server had written it.
func settled(generation int64) v1.ValidatingAdmissionPolicyStatus {
	condition := func(name, reason string) metav1.Condition {
		return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: generation, LastTransitionTime: metav1.Now()}
	}
	return v1.ValidatingAdmissionPolicyStatus{
		ObservedGeneration: generation,
		TypeChecking:       &v1.TypeChecking{},
		Conditions: []metav1.Condition{
			condition(v1.PolicyConditionAvailable, v1.PolicyReasonConfigured),
			condition(v1.PolicyConditionTypeChecked, v1.PolicyReasonNoTypeErrors),
		},
	}
}

// store writes policies and bindings into the etcd of the server and waits until it has read them.
func (h *host) store(ctx context.Context, cluster input.Cluster) error {
	if err := h.write(ctx, cluster); err != nil {
		return err
	}
	return h.AwaitIdle(ctx)
}

// write writes policies and bindings into the etcd of the server.
func (h *host) write(ctx context.Context, cluster input.Cluster) error {
	if err := controlplane.Store(ctx, h.Server, "validatingadmissionpolicies", cluster.Policies); err != nil {
		return err
	}
	return controlplane.Store(ctx, h.Server, "validatingadmissionpolicybindings", cluster.Bindings)
}

// starts holds the measurements of the starts of one server.
type starts struct {
	// took has the nanoseconds from each start to the first correct decision, and resident the
	// memory in bytes at that time. idle is the memory once the server is idle, and peak the
	// maximum from the start until it is idle.
	took, resident, idle, peak []float64
	// admitted is the number of requests that should have been denied, and that the server admitted
	// after it said that it was ready.
	admitted int
}

// start starts a halted server, measures it, and halts it again. It adds the measurements to s.
func (h *host) start(ctx context.Context, s *starts) error {
	begun := time.Now()
	if err := h.Resume(); err != nil {
		return err
	}
	defer h.Halt()
	admitted, err := h.decide(ctx)
	if err != nil {
		return err
	}
	s.took, s.admitted = append(s.took, float64(time.Since(begun))), s.admitted+admitted
	resident, _, err := h.Memory()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	if err := h.AwaitIdle(limited); err != nil && limited.Err() == nil {
		return err
	}
	idle, peak, err := h.Memory()
	s.resident, s.idle, s.peak = append(s.resident, resident), append(s.idle, idle), append(s.peak, peak)
	return err
}

// decide sends requests that a policy denies until the first denial, and returns how many were
// admitted after the server said that it was ready.
func (h *host) decide(ctx context.Context) (admitted int, err error) {
	for deadline := time.Now().Add(decisionTimeout); ; time.Sleep(10 * time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, requestTimeout)
		ready := h.core.Discovery().RESTClient().Get().AbsPath("/readyz").Do(limited).Error() == nil
		err := h.deploy(limited, input.NamespaceName, input.Deployment(input.Allowed), dryRun)
		cancel()
		switch {
		case apierrors.IsInvalid(err):
			return admitted, nil
		case err == nil && ready:
			admitted++
		}
		if ctx.Err() != nil {
			return admitted, ctx.Err()
		}
		if time.Now().After(deadline) {
			return admitted, fmt.Errorf("no decision after %v, but: %v", decisionTimeout, err)
		}
	}
}
