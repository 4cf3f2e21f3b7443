// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

// A policy that denies everything does not prevent its own deletion, nor access reviews.
func TestPoliciesAreNotSubjectToPolicies(t *testing.T) {
	victim := testserver.UniqueName("victim")
	policy := writePolicy(t, `
matchConstraints:
  resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]
matchConditions: [{name: victim, expression: request.userInfo.username == '`+victim+`'}]
validations: [{expression: "false"}]`)
	by := denier{policy, bind(t, policy, `{}`)}
	settle(t)
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: victim, Groups: []string{"system:masters"}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()

	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data")}}, metav1.CreateOptions{})
	by.expectInvalid(t, err, "failed expression: false")
	webhooks := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("webhooks")}}
	_, err = client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, webhooks, metav1.CreateOptions{})
	by.expectInvalid(t, err, "failed expression: false")
	_, err = client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)

	const label = `{"metadata": {"labels": {"changed": "true"}}}`
	policies, bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	_, err = policies.Patch(ctx, by.policy, types.MergePatchType, []byte(label), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = policies.Patch(ctx, by.policy, types.MergePatchType, []byte(`{"status": {"observedGeneration": 1}}`), metav1.PatchOptions{}, "status")
	testserver.ExpectAdmitted(t, err)
	_, err = bindings.Patch(ctx, by.binding, types.MergePatchType, []byte(label), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, bindings.Delete(ctx, by.binding, metav1.DeleteOptions{}))
	testserver.ExpectAdmitted(t, policies.Delete(ctx, by.policy, metav1.DeleteOptions{}))
}
