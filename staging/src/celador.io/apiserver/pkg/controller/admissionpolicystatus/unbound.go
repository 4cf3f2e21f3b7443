// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"celador.io/admission/typecheck"
)

const (
	// unboundInterval is the time between two looks for policies and bindings without effect. An
	// event about a policy or binding is recorded at the second look at which it has no effect,
	// because a policy and its bindings are often created, and deleted, one after the other.
	unboundInterval = 30 * time.Second
	// maxUnbound limits the events of one look.
	maxUnbound = 100

	// reasonNotBound is the reason of events about policies that no binding binds, and
	// reasonPolicyNotFound of those about bindings whose policy does not exist.
	reasonNotBound, reasonPolicyNotFound = "NotBound", "PolicyNotFound"
)

// An effectStore is a verdict store that knows which policies and bindings have no effect.
type effectStore interface {
	// Ineffective returns the names of the policies that need a binding and have none, and of the
	// bindings whose policy does not exist.
	Ineffective() (policies, bindings []string)
}

// unboundName is the name of a policy, or of a binding, that has no effect.
type unboundName struct {
	binding bool
	name    string
}

// unboundNames holds the policies and bindings that had no effect at the last look. The value of a
// name is true once an event about that policy or binding has been recorded.
type unboundNames map[unboundName]bool

// reportUnbound records events about policies and bindings without effect until ctx ends.
func (c *Controller) reportUnbound(ctx context.Context, k *Descriptor, store effectStore) {
	ticker := time.NewTicker(unboundInterval)
	defer ticker.Stop()
	known := unboundNames{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			known = c.lookForUnbound(ctx, k, store, known)
		}
	}
}

// lookForUnbound returns the policies and bindings that have no effect now. It records an event
// about each that had no effect at the last look either and has no event yet. It returns a new map,
// because a map keeps the memory of names that are deleted from it.
func (c *Controller) lookForUnbound(ctx context.Context, k *Descriptor, store effectStore, last unboundNames) unboundNames {
	policies, bindings := store.Ineffective()
	now, budget := unboundNames{}, maxUnbound
	look := func(u unboundName) {
		reported, known := last[u]
		if known && !reported && budget > 0 {
			budget--
			err := c.recordUnbound(ctx, k, u)
			if reported = err == nil; !reported && ctx.Err() == nil {
				utilruntime.HandleErrorWithContext(ctx, err, "An event about a policy or binding without effect is not recorded", "kind", k.name, "name", u.name)
			}
		}
		now[u] = reported
	}
	for _, name := range policies {
		look(unboundName{false, name})
	}
	for _, name := range bindings {
		look(unboundName{true, name})
	}
	return now
}

// recordUnbound records an event about a policy or binding without effect, unless it is gone.
func (c *Controller) recordUnbound(ctx context.Context, k *Descriptor, u unboundName) error {
	if u.binding {
		binding, policy, err := k.binding(ctx, u.name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return c.recordOnce(ctx, binding, k.name+"Binding", reasonPolicyNotFound, fmt.Sprintf("The binding has no effect: there is no %s %q", k.name, policy))
	}
	p, err := k.get(u.name)
	if err != nil || p == nil {
		return err
	}
	return c.recordOnce(ctx, p, k.name, reasonNotBound, fmt.Sprintf("The policy has no effect: no %sBinding has spec.policyName %q", k.name, p.Name))
}

// recordOnce records an event about a policy or binding. If several servers call it for the same
// object, they create a single event, because they give it the same name. After the event has
// expired, the next call records another one.
func (c *Controller) recordOnce(ctx context.Context, object metav1.Object, kind, reason, note string) error {
	_, err := c.events.Events(metav1.NamespaceDefault).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: string(object.GetUID()) + ".unbound"},
		EventTime:           metav1.NowMicro(),
		ReportingController: FieldManager,
		ReportingInstance:   FieldManager,
		Action:              checkAction,
		Reason:              reason,
		Regarding:           c.referenceTo(object, kind),
		Note:                typecheck.Truncate(note, maxNote),
		Type:                corev1.EventTypeWarning,
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
