// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"fmt"
	"strings"

	"celador.io/celador/test/equivalence/harness"
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scenario holds the webhooks of a cluster. Each is stored as a mutating and as a validating
// webhook.
type scenario []hook

// hook is a webhook and the name of its configuration, "hooks" by default.
type hook struct {
	Configuration string `json:"configuration,omitempty"`
	v1.MutatingWebhook
}

const host = "https://hooks.example.com"

// asking returns a webhook that matches everything, with the defaults of the API, and that gives
// the named answer.
func asking(name, answer string, changes ...func(*hook)) hook {
	h := hook{MutatingWebhook: v1.MutatingWebhook{
		Name:                    name + ".example.com",
		ClientConfig:            v1.WebhookClientConfig{URL: new(host + "/" + answer)},
		FailurePolicy:           new(v1.Fail),
		MatchPolicy:             new(v1.Equivalent),
		SideEffects:             new(v1.SideEffectClassNone),
		ReinvocationPolicy:      new(v1.NeverReinvocationPolicy),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: []string{"v1"},
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		Rules:                   []v1.RuleWithOperations{rule("*", "*", "*/*")},
	}}
	if _, known := answers[answer]; !known {
		panic("there is no answer " + answer)
	}
	for _, change := range changes {
		change(&h)
	}
	return h
}

func rule(group, version, resource string, operations ...v1.OperationType) v1.RuleWithOperations {
	if operations == nil {
		operations = []v1.OperationType{v1.OperationAll}
	}
	return v1.RuleWithOperations{
		Operations: operations,
		Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}, Scope: new(v1.AllScopes)},
	}
}

// when adds match conditions.
func when(expressions ...string) func(*hook) {
	return func(h *hook) {
		for i, expression := range expressions {
			h.MatchConditions = append(h.MatchConditions, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: expression})
		}
	}
}

func ignoring(h *hook)  { h.FailurePolicy = new(v1.Ignore) }
func exact(h *hook)     { h.MatchPolicy = new(v1.Exact) }
func reinvoked(h *hook) { h.ReinvocationPolicy = new(v1.IfNeededReinvocationPolicy) }
func byService(h *hook) {
	h.reach(&v1.ServiceReference{Namespace: "hooks", Name: "hook", Port: new(int32(8443))})
}
func nowhere(h *hook)    { h.ClientConfig = v1.WebhookClientConfig{} }
func panicking(h *hook)  { h.ClientConfig.URL = new("https://panic.example.com/allow") }
func unreadable(h *hook) { h.ClientConfig.URL = new("https://hooks.example.com:no/allow") }

// reach replaces the URL of the webhook by a service with the same path.
func (h *hook) reach(service *v1.ServiceReference) {
	service.Path = new(strings.TrimPrefix(*h.ClientConfig.URL, host))
	h.ClientConfig = v1.WebhookClientConfig{Service: service}
}

func matching(rules ...v1.RuleWithOperations) func(*hook) {
	return func(h *hook) { h.Rules = rules }
}

func scoped(scope *v1.ScopeType) func(*hook) {
	return func(h *hook) {
		for i := range h.Rules {
			h.Rules[i].Scope = scope
		}
	}
}

func inNamespaces(selector *metav1.LabelSelector) func(*hook) {
	return func(h *hook) { h.NamespaceSelector = selector }
}

func ofObjects(selector *metav1.LabelSelector) func(*hook) {
	return func(h *hook) { h.ObjectSelector = selector }
}

func withEffects(class *v1.SideEffectClass) func(*hook) {
	return func(h *hook) { h.SideEffects = class }
}

func reading(versions ...string) func(*hook) {
	return func(h *hook) { h.AdmissionReviewVersions = versions }
}

func within(seconds *int32) func(*hook) {
	return func(h *hook) { h.TimeoutSeconds = seconds }
}

func configured(in string) func(*hook) {
	return func(h *hook) { h.Configuration = in }
}

// configurations returns the webhook configurations of the scenario, by kind and name. The path
// of a webhook's URL starts with its index in the scenario.
func (s scenario) configurations() map[string]harness.Object {
	configurations := map[string]harness.Object{}
	for i, h := range s {
		w := *h.MutatingWebhook.DeepCopy()
		if url := w.ClientConfig.URL; url != nil {
			w.ClientConfig.URL = new(strings.Replace(*url, ".com/", fmt.Sprintf(".com/%d/", i), 1))
		}
		if service := w.ClientConfig.Service; service != nil {
			service.Path = new(fmt.Sprintf("/%d%s", i, *service.Path))
		}
		name := cmp.Or(h.Configuration, "hooks")
		if configurations["mutating "+name] == nil {
			configurations["mutating "+name] = &v1.MutatingWebhookConfiguration{ObjectMeta: harness.Stored(name)}
			configurations["validating "+name] = &v1.ValidatingWebhookConfiguration{ObjectMeta: harness.Stored(name)}
		}
		mutating := configurations["mutating "+name].(*v1.MutatingWebhookConfiguration)
		mutating.Webhooks = append(mutating.Webhooks, w)
		validating := configurations["validating "+name].(*v1.ValidatingWebhookConfiguration)
		validating.Webhooks = append(validating.Webhooks, v1.ValidatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		})
	}
	return configurations
}
