// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scenario are the webhooks of the cluster. Each is a mutating and a validating one.
type scenario []hook

// hook is a webhook of a configuration, by default of one that all are in.
type hook struct {
	Configuration string `json:"configuration,omitempty"`
	v1.MutatingWebhook
}

const host = "https://hooks.example.com"

// asking returns a webhook for everything that gives one of the answers. It is as the API
// completes it.
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

// when sets match conditions.
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

// reach has the webhook called through a service, at the same path.
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

func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func having(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

// configurations returns the scenario as it is stored. Each URL says which webhook it is
// of, and so when it answers.
func (s scenario) configurations() (mutating map[string]*v1.MutatingWebhookConfiguration, validating map[string]*v1.ValidatingWebhookConfiguration) {
	mutating, validating = map[string]*v1.MutatingWebhookConfiguration{}, map[string]*v1.ValidatingWebhookConfiguration{}
	for i, h := range s {
		m := *h.MutatingWebhook.DeepCopy()
		if url := m.ClientConfig.URL; url != nil {
			m.ClientConfig.URL = new(strings.Replace(*url, ".com/", fmt.Sprintf(".com/%d/", i), 1))
		}
		if service := m.ClientConfig.Service; service != nil {
			service.Path = new(fmt.Sprintf("/%d%s", i, *service.Path))
		}
		name := h.Configuration
		if name == "" {
			name = "hooks"
		}
		if mutating[name] == nil {
			meta := metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}
			mutating[name], validating[name] = &v1.MutatingWebhookConfiguration{ObjectMeta: meta}, &v1.ValidatingWebhookConfiguration{ObjectMeta: meta}
		}
		mutating[name].Webhooks = append(mutating[name].Webhooks, m)
		validating[name].Webhooks = append(validating[name].Webhooks, v1.ValidatingWebhook{
			Name: m.Name, ClientConfig: m.ClientConfig, Rules: m.Rules, FailurePolicy: m.FailurePolicy, MatchPolicy: m.MatchPolicy,
			NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector, SideEffects: m.SideEffects, TimeoutSeconds: m.TimeoutSeconds,
			AdmissionReviewVersions: m.AdmissionReviewVersions, MatchConditions: m.MatchConditions,
		})
	}
	return mutating, validating
}
