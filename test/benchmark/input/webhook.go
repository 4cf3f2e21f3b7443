// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/benchmark/api"
)

// A condition is a match condition that few requests satisfy. A %d in its expression stands for the
// number of the webhook: in clusters, such conditions differ from team to team, for example in the
// name of a namespace.
type condition struct{ name, expression string }

// conditions holds match conditions that the pod of Pod does not satisfy. A pod with the volume NFS
// satisfies the first.
var conditions = []condition{
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

// ConditionOf returns the match condition of the i-th webhook. If the expression contains the
// number of the webhook, no other webhook has the same expression.
func ConditionOf(i int) v1.MatchCondition {
	condition := conditions[i%len(conditions)]
	expression := condition.expression
	if strings.Contains(expression, "%") {
		expression = fmt.Sprintf(expression, i)
	}
	return v1.MatchCondition{Name: condition.name, Expression: expression}
}

// SameCondition returns the match condition of a webhook if all webhooks have the same one.
func SameCondition(int) v1.MatchCondition { return ConditionOf(0) }

// Webhooks describes a mutating and a validating webhook configuration, with Number webhooks each.
// Condition returns the match condition of the i-th webhook.
type Webhooks struct {
	URL       string
	Number    int
	Condition func(i int) v1.MatchCondition
}

// webhook returns the i-th webhook. It matches all writes, except for the resources that
// Kubernetes' documentation of match conditions recommends to exclude.
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
			w.Condition(i),
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
		storeNamespace(server),
		api.Store(server, v1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"), meta.RESTScopeRoot, []*v1.MutatingWebhookConfiguration{mutating}),
		api.Store(server, v1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), meta.RESTScopeRoot, []*v1.ValidatingWebhookConfiguration{validating}),
	)
}
