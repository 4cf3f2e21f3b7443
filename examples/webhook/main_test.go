// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"testing"
	"time"

	policyv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// configuration sends creations of ConfigMaps in namespace default to the webhook.
var configuration = &policyv1.ValidatingWebhookConfiguration{
	ObjectMeta: metav1.ObjectMeta{Name: "policies"},
	Webhooks: []policyv1.ValidatingWebhook{{
		Name: "policies.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(policyv1.SideEffectClassNone),
		ClientConfig: policyv1.WebhookClientConfig{Service: &policyv1.ServiceReference{Path: new("/validate")}},
		Rules: []policyv1.RuleWithOperations{{
			Operations: []policyv1.OperationType{policyv1.Create},
			Rule:       policyv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "default"}},
	}},
}

// TestWebhook lets the webhook decide for an API server whose own plugin for policies is off. make
// envtest runs it.
func TestWebhook(t *testing.T) {
	for _, variable := range []string{"TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_ETCD"} {
		if os.Getenv(variable) == "" {
			t.Fatalf("%s must be the path of the binary: run make envtest", variable)
		}
	}
	environment := &envtest.Environment{WebhookInstallOptions: envtest.WebhookInstallOptions{ValidatingWebhooks: []*policyv1.ValidatingWebhookConfiguration{configuration}}}
	environment.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ValidatingAdmissionPolicy")
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	serving := environment.WebhookInstallOptions
	m, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: serving.LocalServingHost, Port: serving.LocalServingPort, CertDir: serving.LocalServingCertDir}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, m) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limit := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "limit"}, Data: map[string]string{"owner": "jane"}}
	policy := &policyv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "owned"},
		Spec: policyv1.ValidatingAdmissionPolicySpec{
			ParamKind: &policyv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			MatchConstraints: &policyv1.MatchResources{ResourceRules: []policyv1.NamedRuleWithOperations{{
				RuleWithOperations: configuration.Webhooks[0].Rules[0],
			}}},
			Validations: []policyv1.Validation{{
				Expression:        "namespaceObject.metadata.name != 'default' || object.data.owner == params.data.owner",
				MessageExpression: "'owner is not ' + params.data.owner",
			}},
		},
	}
	binding := &policyv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "owned"},
		Spec: policyv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []policyv1.ValidationAction{policyv1.Deny},
			ParamRef: &policyv1.ParamRef{Namespace: limit.Namespace, Name: limit.Name, ParameterNotFoundAction: new(policyv1.DenyAction)},
		},
	}
	for _, object := range []client.Object{limit, policy, binding} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	create := func(owner string) error {
		return c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}, Data: map[string]string{"owner": owner}}, client.DryRunAll)
	}
	const want = `admission webhook "policies.example.com" denied the request: configmaps "test" is forbidden: ValidatingAdmissionPolicy 'owned' with binding 'owned' denied request: owner is not jane`
	var denial error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		denial = create("joe")
		return denial != nil && denial.Error() == want && apierrors.IsInvalid(denial), nil
	})
	if err != nil {
		t.Fatalf("the policy does not deny: %v, the last answer is %v", err, denial)
	}
	if err := create("jane"); err != nil {
		t.Error(err)
	}
}
