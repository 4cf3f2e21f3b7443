// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/url"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"celador.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"celador.io/apiserver/pkg/admission/plugin/webhook/validating"
)

// Upstream's test cases depend on these names.
const (
	namespace     = "webhook-test"
	configuration = "test-webhooks"
)

// plugin is a plugin of either kind.
type plugin interface {
	admission.InitializationValidator
	initializer.WantsExternalKubeClientSet
	initializer.WantsExternalKubeInformerFactory
	initializer.WantsUnconditionalAuthorizer
	webhookinit.WantsServiceResolver
	webhookinit.WantsAuthenticationInfoResolverWrapper
}

// kind runs tests for one kind of webhooks. Tests write all webhooks as mutating ones.
type kind struct {
	plugin func() (plugin, error)
	source func(webhooks []v1.MutatingWebhook, stop <-chan struct{}) (kubernetes.Interface, informers.SharedInformerFactory)
	update func(context.Context, kubernetes.Interface, metav1.ObjectMeta, []v1.MutatingWebhook) error
	// examine passes a request to the plugin.
	examine func(context.Context, plugin, admission.Attributes) error
}

var kinds = map[string]kind{
	"validating": {
		plugin: func() (plugin, error) { return validating.New(nil) },
		source: func(webhooks []v1.MutatingWebhook, stop <-chan struct{}) (kubernetes.Interface, informers.SharedInformerFactory) {
			return webhooktesting.NewFakeValidatingDataSource(namespace, asValidating(webhooks), stop)
		},
		update: func(ctx context.Context, client kubernetes.Interface, meta metav1.ObjectMeta, webhooks []v1.MutatingWebhook) error {
			updated := &v1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: asValidating(webhooks)}
			_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, updated, metav1.UpdateOptions{})
			return err
		},
		examine: func(ctx context.Context, p plugin, a admission.Attributes) error {
			return p.(admission.ValidationInterface).Validate(ctx, a, webhooktesting.NewObjectInterfacesForTest())
		},
	},
	"mutating": {
		plugin: func() (plugin, error) { return mutating.New(nil) },
		source: func(webhooks []v1.MutatingWebhook, stop <-chan struct{}) (kubernetes.Interface, informers.SharedInformerFactory) {
			return webhooktesting.NewFakeMutatingDataSource(namespace, webhooks, stop)
		},
		update: func(ctx context.Context, client kubernetes.Interface, meta metav1.ObjectMeta, webhooks []v1.MutatingWebhook) error {
			updated := &v1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: webhooks}
			_, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(ctx, updated, metav1.UpdateOptions{})
			return err
		},
		examine: func(ctx context.Context, p plugin, a admission.Attributes) error {
			return p.(admission.MutationInterface).Admit(ctx, a, webhooktesting.NewObjectInterfacesForTest())
		},
	},
}

func asValidating(webhooks []v1.MutatingWebhook) []v1.ValidatingWebhook {
	var result []v1.ValidatingWebhook
	for _, w := range webhooks {
		result = append(result, v1.ValidatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		})
	}
	return result
}

// unreachable is an address at which nothing listens.
const unreachable = "https://127.0.0.1:1"

// conditional returns an unreachable webhook for all requests.
func conditional(name string, policy v1.FailurePolicyType, condition string) v1.MutatingWebhook {
	return v1.MutatingWebhook{
		Name:                    name,
		ClientConfig:            v1.WebhookClientConfig{URL: new(unreachable)},
		Rules:                   []v1.RuleWithOperations{{Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}}}},
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		AdmissionReviewVersions: []string{"v1"},
		SideEffects:             new(v1.SideEffectClassNone),
		FailurePolicy:           &policy,
		MatchConditions:         []v1.MatchCondition{{Name: "c", Expression: condition}},
	}
}

// started returns an initialized plugin for the webhooks, and the client that stores them.
func (k kind) started(t *testing.T, server string, auth webhookutil.AuthenticationInfoResolver, webhooks []v1.MutatingWebhook) (plugin, kubernetes.Interface) {
	t.Helper()
	p, err := k.plugin()
	if err != nil {
		t.Fatal(err)
	}
	return p, k.start(t, p, server, auth, webhooks)
}

func (k kind) start(t *testing.T, p plugin, server string, auth webhookutil.AuthenticationInfoResolver, webhooks []v1.MutatingWebhook) kubernetes.Interface {
	t.Helper()
	client, informers := k.source(webhooks, t.Context().Done())
	p.SetAuthenticationInfoResolverWrapper(webhooktesting.Wrapper(auth))
	p.SetServiceResolver(webhooktesting.NewServiceResolver(*parse(t, server)))
	p.SetExternalKubeClientSet(client)
	p.SetExternalKubeInformerFactory(informers)
	if err := p.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	informers.Start(t.Context().Done())
	informers.WaitForCacheSync(t.Context().Done())
	return client
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
