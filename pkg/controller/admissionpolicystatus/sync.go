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
func (c *Controller) sync(ctx context.Context, name string) (err error) {
	// A policy that ended the server would end it whenever it starts again.
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	object, exists, err := c.policies.GetIndexer().GetByKey(name)
	if err != nil {
		return err
	}
	if !exists {
		c.outcomes.Delete(name)
		for _, listener := range c.listeners {
			listener.PolicyGone(name)
		}
		return nil
	}
	policy := object.(*v1.ValidatingAdmissionPolicy)
	o := c.outcomeOf(ctx, policy)
	if !o.unavailable() {
		if err := c.write(ctx, policy, o); err != nil || !o.undescribed() {
			return err
		}
		return errUndescribed
	}
	if c.queue.NumRequeues(name) >= patience {
		err = c.write(ctx, policy, o)
	}
	return errors.Join(fmt.Errorf("some types cannot be found out: %s", o.unchecked(typecheck.Unavailable)), err)
}

// write writes the status if there is progress.
func (c *Controller) write(ctx context.Context, policy *v1.ValidatingAdmissionPolicy, o *outcome) error {
	conditions := o.conditions(policy, c.enforceTypes)
	forward, resources, err := c.progress(ctx, policy, o, conditions)
	if err != nil {
		return err
	}
	if !forward {
		o.changed = false
		return nil
	}
	written, err := c.apply(ctx, policy, statusConfiguration{
		ObservedGeneration:      policy.Generation,
		TypeChecking:            typeCheckingConfiguration{limited(o.Warnings())},
		Conditions:              conditions,
		ObservedCustomResources: resources,
	})
	if written {
		o.changed = false
		c.announce(policy, meta.FindStatusCondition(conditions, v1.PolicyConditionAvailable))
	}
	return err
}

// conditions returns both conditions. The time of those that are as recorded stays.
func (o *outcome) conditions(policy *v1.ValidatingAdmissionPolicy, enforced bool) []metav1.Condition {
	var conditions []metav1.Condition
	for _, condition := range []metav1.Condition{o.available(policy, enforced), o.typeChecked(policy)} {
		condition.LastTransitionTime = metav1.Now()
		if before := meta.FindStatusCondition(policy.Status.Conditions, condition.Type); before != nil && before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		conditions = append(conditions, condition)
	}
	return conditions
}
