// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/benchmark/api"
)

// interest is what webhooks that are called for few requests may be called for. A %d in
// the expression is a name or number that teams have of their own.
type interest struct{ name, expression string }

// interests are none in what Pod returns. The first is in pods with the volume NFS.
var interests = []interest{
	{"has-nfs-volumes", "has(object.spec.volumes) && object.spec.volumes.exists(v, has(v.nfs))"},
	{"in-tenants-namespaces", "request.namespace.startsWith('tenant-%d-')"},
	{"of-team", "has(object.metadata.labels) && 'team' in object.metadata.labels && object.metadata.labels['team'] == 'team-%d'"},
	{"from-registry", "object.spec.containers.exists(c, c.image.startsWith('registry-%d.example.com/'))"},
	{"asks-for-sidecar", "has(object.metadata.annotations) && 'sidecar-%d.example.com/inject' in object.metadata.annotations"},
	{"in-node-pool", "has(object.spec.nodeSelector) && 'example.com/pool-%d' in object.spec.nodeSelector"},
	{"has-port", "object.spec.containers.exists(c, has(c.ports) && c.ports.exists(p, p.containerPort == 2%03d))"},
	{"has-priority", "has(object.spec.priorityClassName) && object.spec.priorityClassName == 'class-%d'"},
	{"by-tenant", "request.userInfo.groups.exists(g, g == 'system:serviceaccounts:tenant-%d')"},
	{"of-workflow", "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'Workflow%d')"},
}

// InterestOf returns the condition of the i-th of webhooks that each have an interest of
// their own, and SameInterest that of webhooks which all have the first.
func InterestOf(i int) v1.MatchCondition {
	interest := interests[i%len(interests)]
	expression := interest.expression
	if strings.Contains(expression, "%") {
		expression = fmt.Sprintf(expression, i)
	}
	return v1.MatchCondition{Name: interest.name, Expression: expression}
}

// SameInterest is like InterestOf.
func SameInterest(int) v1.MatchCondition { return InterestOf(0) }

// Webhooks are the two configurations that plugins read from the API server, with as many
// webhooks in each.
type Webhooks struct {
	URL      string
	Number   int
	Interest func(i int) v1.MatchCondition
}

// webhook returns the i-th webhook, for writes of everything but what the documentation of
// match conditions advises to exclude.
func (w *Webhooks) webhook(i int) v1.MutatingWebhook {
	return v1.MutatingWebhook{
		Name:                    number("hook", i) + ".example.com",
		ClientConfig:            v1.WebhookClientConfig{URL: &w.URL},
		FailurePolicy:           new(v1.Fail),
		MatchPolicy:             new(v1.Equivalent),
		SideEffects:             new(v1.SideEffectClassNone),
		ReinvocationPolicy:      new(v1.NeverReinvocationPolicy),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: []string{"v1"},
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		Rules: []v1.RuleWithOperations{{
			Operations: []v1.OperationType{v1.Create, v1.Update},
			Rule:       v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: new(v1.AllScopes)},
		}},
		MatchConditions: []v1.MatchCondition{
			{Name: "exclude-leases", Expression: "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')"},
			{Name: "exclude-kubelet-requests", Expression: "!('system:nodes' in request.userInfo.groups)"},
			w.Interest(i),
		},
	}
}

// Server returns an API server with the configurations and the namespace of all requests.
func (w *Webhooks) Server() (*api.Server, error) {
	mutating := &v1.MutatingWebhookConfiguration{ObjectMeta: stored("webhooks")}
	validating := &v1.ValidatingWebhookConfiguration{ObjectMeta: stored("webhooks")}
	for i := range w.Number {
		m := w.webhook(i)
		mutating.Webhooks = append(mutating.Webhooks, m)
		validating.Webhooks = append(validating.Webhooks, v1.ValidatingWebhook{
			Name: m.Name, ClientConfig: m.ClientConfig, FailurePolicy: m.FailurePolicy, MatchPolicy: m.MatchPolicy,
			SideEffects: m.SideEffects, TimeoutSeconds: m.TimeoutSeconds, AdmissionReviewVersions: m.AdmissionReviewVersions,
			NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector, Rules: m.Rules, MatchConditions: m.MatchConditions,
		})
	}
	server := api.New()
	return server, errors.Join(
		api.Store(server, api.Resource{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("namespaces"), Kind: "Namespace"}, []*corev1.Namespace{Space()}),
		api.Store(server, api.Resource{GroupVersionResource: v1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"), Kind: "MutatingWebhookConfiguration"}, []*v1.MutatingWebhookConfiguration{mutating}),
		api.Store(server, api.Resource{GroupVersionResource: v1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"), Kind: "ValidatingWebhookConfiguration"}, []*v1.ValidatingWebhookConfiguration{validating}),
	)
}
