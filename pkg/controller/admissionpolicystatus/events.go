// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// announce records an event when a policy ceases to be available or is so again. The server
// that writes the status does that.
func (c *Controller) announce(p *policy, available *metav1.Condition) {
	before := meta.FindStatusCondition(p.status.Conditions, v1.PolicyConditionAvailable)
	isTrue := available.Status == metav1.ConditionTrue
	if before == nil && isTrue || before != nil && before.Status == available.Status {
		return
	}
	kind, note := corev1.EventTypeWarning, available.Message
	if isTrue {
		kind, note = corev1.EventTypeNormal, "The policy can decide as written"
	}
	regarding := &corev1.ObjectReference{
		APIVersion:      v1.SchemeGroupVersion.String(),
		Kind:            p.kind.name,
		Name:            p.Name,
		UID:             p.UID,
		ResourceVersion: p.ResourceVersion,
	}
	c.recorder.Eventf(regarding, nil, kind, available.Reason, "CheckPolicy", "%s", cut(note, maxNote))
}
