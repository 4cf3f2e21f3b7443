// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"

	"celador.io/admission/cel/expression"
	"celador.io/admission/webhook"
)

// A WebhookRecord tells whether a server calls a webhook for a request.
type WebhookRecord struct {
	// Configuration is the name of the MutatingWebhookConfiguration or
	// ValidatingWebhookConfiguration.
	Configuration string `json:"configuration"`
	// Name is the name of the webhook.
	Name string `json:"name"`
	// Called reports whether the server calls the webhook.
	Called bool `json:"called"`
	// Reason explains why the server does not call it.
	Reason string `json:"reason,omitempty"`
}

// webhooks are the webhooks of one kind of configurations, in the order of calls. They are
// immutable.
type webhooks struct {
	set    *webhook.Set
	config webhook.Config
	// uncalled are the records for a request that does not reach the webhooks.
	uncalled []WebhookRecord
	// excluded are the resources for which the server calls no webhooks.
	excluded sets.Set[schema.GroupResource]
}

// The kinds of webhook configurations.
const (
	MutatingWebhookKind   = "MutatingWebhookConfiguration"
	ValidatingWebhookKind = "ValidatingWebhookConfiguration"
)

// compileWebhooks adds the webhooks of the cluster's configurations to the policy set. excluded are
// the resources for which no webhook is called. compiler, if it is not nil, returns a compiler that
// traces the match conditions of a kind of configurations.
func (c *Cluster) compileWebhooks(s *policySet, config webhook.Config, excluded sets.Set[schema.GroupResource], compiler func(kind string) *expression.Compiler) error {
	var compiled []*webhook.Webhook
	add := func(to *webhooks, kind, configuration string, index int, name string, w *webhook.Webhook) {
		if compiler != nil {
			w = w.Traced(compiler(kind), configuration, field.NewPath("webhooks").Index(index))
		}
		compiled = append(compiled, w)
		to.uncalled = append(to.uncalled, WebhookRecord{Configuration: configuration, Name: name, Reason: unreached})
	}
	mutating, err := list[*admissionregistrationv1.MutatingWebhookConfiguration](c, admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"), "")
	if err != nil {
		return err
	}
	validating, err := list[*admissionregistrationv1.ValidatingWebhookConfiguration](c, admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"), "")
	if err != nil {
		return err
	}
	for _, configuration := range mutating {
		for i := range configuration.Webhooks {
			w := &configuration.Webhooks[i]
			add(&s.mutatingWebhooks, MutatingWebhookKind, configuration.Name, i, w.Name, webhook.CompileMutating(w))
		}
	}
	s.mutatingWebhooks.set, s.mutatingWebhooks.config = webhook.NewSet(compiled), config
	compiled = nil
	for _, configuration := range validating {
		for i := range configuration.Webhooks {
			w := &configuration.Webhooks[i]
			add(&s.validatingWebhooks, ValidatingWebhookKind, configuration.Name, i, w.Name, webhook.CompileValidating(w))
		}
	}
	s.validatingWebhooks.set, s.validatingWebhooks.config = webhook.NewSet(compiled), config
	s.mutatingWebhooks.excluded, s.validatingWebhooks.excluded = excluded, excluded
	return nil
}

const unreached = "the request was rejected before"

// match returns the records of all webhooks for a request. If match conditions of a webhook reject
// the request, match also returns the error of the API.
func (w *webhooks) match(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) ([]WebhookRecord, error) {
	if len(w.uncalled) == 0 {
		return nil, nil
	}
	records := append([]WebhookRecord(nil), w.uncalled...)
	exemption := ""
	if resource := a.GetResource().GroupResource(); w.excluded.Has(resource) {
		exemption = "servers call no webhooks for " + resource.String()
	} else if rules.IsExemptAdmissionConfigurationResource(a) {
		exemption = "servers call no webhooks for policies, bindings and webhook configurations"
	}
	if exemption != "" {
		for i := range records {
			records[i].Reason = exemption
		}
		return records, nil
	}
	request := w.set.NewRequest(ctx, a, objects, w.config)
	found := map[int]webhook.Applicability{}
	for _, candidate := range request.Candidates() {
		applicability, err := request.Match(candidate)
		if err != nil {
			return records, err
		}
		found[candidate.Position] = applicability
	}
	for i := range records {
		switch s := found[i]; {
		case s.Matches:
			records[i].Called, records[i].Reason = true, ""
		case s.Condition != "":
			records[i].Reason = "match condition " + s.Condition + " is false"
		case s.Err != nil:
			records[i].Reason = "match conditions cannot be evaluated, and failurePolicy is Ignore: " + s.Err.Error()
		default:
			records[i].Reason = "rules or selectors do not match"
		}
	}
	return records, nil
}
