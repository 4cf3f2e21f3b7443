// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/metrics"
	"k8s.io/klog/v2"

	"celador.io/admission/mutating"

	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

// ownMetrics are those that upstream's plugin does not have.
var ownMetrics = policymetrics.For(PluginName)

// observe counts what was done, and says in the audit event what was changed.
func observe(ctx context.Context, a admission.Attributes, result mutating.Result) {
	policyplugin.ObserveConditions(ctx, a.GetOperation(), result.Conditions)
	for i := range result.Mutations {
		m := &result.Mutations[i]
		if m.Err != nil {
			metrics.Metrics.ObserveRejection(ctx, m.Elapsed, m.Policy, m.Binding, upstream.ErrorType(m.Err))
			continue
		}
		metrics.Metrics.ObserveAdmission(ctx, m.Elapsed, m.Policy, m.Binding, metrics.MutationNoError)
		if m.Changed {
			annotate(ctx, a, i, m)
		}
	}
}

// annotationPrefix is that of an annotation for each mutation that changed the object. A
// round, of which there are two at most, and the place in it follow.
const annotationPrefix = "mutation.policy.admission.celador.io/"

// change is the value of an annotation.
type change struct {
	Policy   string   `json:"policy"`
	Binding  string   `json:"binding"`
	Mutation int      `json:"mutation"`
	Fields   []string `json:"fields,omitempty"`
}

func annotate(ctx context.Context, a admission.Attributes, place int, m *mutating.Mutation) {
	key := fmt.Sprintf("%sround_%d_index_%d", annotationPrefix, m.Round, place)
	value, err := json.Marshal(change{m.Policy, m.Binding, m.Index, m.Fields})
	if err == nil {
		err = a.AddAnnotation(key, string(value))
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to set an audit annotation", "key", key, "policy", m.Policy)
	}
}
