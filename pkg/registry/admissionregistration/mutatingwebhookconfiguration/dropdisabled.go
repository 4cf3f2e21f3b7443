// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingwebhookconfiguration

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"celador.io/celador/pkg/features"
)

// dropDisabled clears the match conditions of all webhooks when their feature gate is
// off, unless a stored webhook has some: an update must not lose what was written
// while the gate was on. On create nothing is stored.
func dropDisabled(configuration *admissionregistration.MutatingWebhookConfiguration, stored []admissionregistration.MutatingWebhook) {
	if utilfeature.DefaultFeatureGate.Enabled(features.AdmissionWebhookMatchConditions) || slices.ContainsFunc(stored, hasConditions) {
		return
	}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].MatchConditions = nil
	}
}

func hasConditions(webhook admissionregistration.MutatingWebhook) bool {
	return len(webhook.MatchConditions) > 0
}
