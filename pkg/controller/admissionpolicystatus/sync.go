// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// patience is how often a check is repeated before the status says that some types cannot
// be found out.
const patience = 10

// sync checks a policy and writes its status if that is better than the recorded one. On an
// error it is to be called again.
func (c *Controller) sync(ctx context.Context, k key) (err error) {
	// A policy that ended the server would end it whenever it starts again.
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	p, err := k.kind.get(k.name)
	if err != nil {
		return err
	}
	if p == nil {
		c.outcomes.Delete(k)
		for _, listener := range c.listeners {
			listener.PolicyGone(k.kind.name, k.name)
		}
		return nil
	}
	o := c.outcomeOf(ctx, p)
	if !o.unavailable() {
		if err := c.write(ctx, p, o); err != nil || !o.undescribed() {
			return err
		}
		return errUndescribed
	}
	if c.queue.NumRequeues(k) >= patience {
		err = c.write(ctx, p, o)
	}
	return errors.Join(fmt.Errorf("some types cannot be found out: %s", o.unchecked(typecheck.Unavailable)), err)
}

// write writes the status if there is progress.
func (c *Controller) write(ctx context.Context, p *policy, o *outcome) error {
	conditions := o.conditions(p)
	forward, resources, err := c.progress(ctx, p, o, conditions)
	if err != nil {
		return err
	}
	if !forward {
		o.changed = false
		return nil
	}
	written, err := c.apply(ctx, p, statusConfiguration{
		ObservedGeneration:      p.Generation,
		TypeChecking:            typeCheckingConfiguration{o.warnings},
		Conditions:              conditions,
		ObservedCustomResources: resources,
	})
	if written {
		o.changed = false
		c.announce(p, meta.FindStatusCondition(conditions, v1.PolicyConditionAvailable))
	}
	return err
}

// conditions returns both conditions. The time of those that are as recorded stays.
func (o *outcome) conditions(p *policy) []metav1.Condition {
	var conditions []metav1.Condition
	for _, condition := range []metav1.Condition{o.available(p), o.typeChecked(p)} {
		condition.LastTransitionTime = metav1.Now()
		if before := meta.FindStatusCondition(p.status.Conditions, condition.Type); before != nil && before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		conditions = append(conditions, condition)
	}
	return conditions
}
