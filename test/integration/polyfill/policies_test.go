// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// limit limits the replicas of Deployments to a number in a ConfigMap, except for one user.
const limit = `
metadata: {name: limit.example.com}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  matchConditions:
  - {name: not-ada, expression: "request.userInfo.username != 'ada'"}
  validations:
  - expression: object.spec.replicas <= int(params.data.replicas)
    messageExpression: "'at most ' + params.data.replicas + ' replicas, not ' + string(object.spec.replicas)"
    reason: Forbidden
`

// label sets a label of Deployments by an apply configuration.
const label = `
metadata: {name: label.example.com}
spec:
  failurePolicy: Ignore
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{metadata: Object.metadata{labels: {'team': request.namespace}}}"
`

// Policies of the polyfill decide about requests to a stock server.
func TestPolicies(t *testing.T) {
	c := install(t)
	c.start(t).awaitReady(t)
	c.start(t).awaitReady(t)
	shop := c.Namespace(t, nil)
	testserver.Must(c.Core.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "params", Labels: map[string]string{"policy.celador.io/aggregate-to-params": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}}},
	}, metav1.CreateOptions{}))(t)
	params := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Data: map[string]string{"replicas": "5"}}
	testserver.Must(c.Core.CoreV1().ConfigMaps(shop).Create(t.Context(), params, metav1.CreateOptions{}))(t)

	policies := c.polyfill.AdmissionregistrationV1()
	validating := testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), parse[v1.ValidatingAdmissionPolicy](t, limit), metav1.CreateOptions{}))(t)
	testserver.ExpectAdmitted(t, c.deploy(t.Context(), shop, 9))
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "limit"}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: validating.Name, ValidationActions: []v1.ValidationAction{v1.Deny},
		ParamRef: &v1.ParamRef{Name: params.Name, ParameterNotFoundAction: new(v1.DenyAction)},
	}}
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}))(t)

	const denied = " is forbidden: ValidatingAdmissionPolicy 'limit.example.com' with binding 'limit' denied request: "
	err := c.awaitDenied(t, shop, 6, denied+"at most 5 replicas, not 6")
	if !apierrors.IsForbidden(err) {
		t.Errorf("got error %#v, want reason Forbidden", err)
	}
	testserver.ExpectAdmitted(t, c.deploy(t.Context(), shop, 5))
	ada := &cluster{Clients: c.As(t, "ada", "system:masters")}
	testserver.ExpectAdmitted(t, ada.deploy(t.Context(), shop, 6))

	begin := time.Now()
	params.Data["replicas"] = "4"
	testserver.Must(c.Core.CoreV1().ConfigMaps(shop).Update(t.Context(), params, metav1.UpdateOptions{}))(t)
	c.awaitDenied(t, shop, 5, denied+"at most 4 replicas, not 5")
	t.Logf("a changed param took effect after %v", time.Since(begin))

	begin = time.Now()
	c.change(t, func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].MessageExpression = "'too many'" })
	c.awaitDenied(t, shop, 5, denied+"too many")
	t.Logf("a changed policy took effect after %v", time.Since(begin))

	begin = time.Now()
	testserver.Must(policies.MutatingAdmissionPolicies().Create(t.Context(), parse[v1.MutatingAdmissionPolicy](t, label), metav1.CreateOptions{}))(t)
	testserver.Must(policies.MutatingAdmissionPolicyBindings().Create(t.Context(), &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "label"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "label.example.com"},
	}, metav1.CreateOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		created, err := c.Core.AppsV1().Deployments(shop).Create(ctx, deployment(1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if created.Labels["team"] != shop {
			return fmt.Errorf("labels are %v", created.Labels)
		}
		return nil
	})
	t.Logf("a new mutating policy took effect after %v", time.Since(begin))

	// A policy that moves to another webhook decides all the time.
	c.change(t, func(p *v1.ValidatingAdmissionPolicy) { p.Spec.FailurePolicy = new(v1.Ignore) })
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
		if err := c.deploy(t.Context(), shop, 5); err == nil {
			t.Fatal("a request was admitted while the policy changed its failurePolicy")
		}
	}
	if err := policies.ValidatingAdmissionPolicies().Delete(t.Context(), validating.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	testserver.Eventually(t, func(ctx context.Context) error { return c.deploy(ctx, shop, 9) })
}

// change updates the policy limit.
func (c *cluster) change(t *testing.T, change func(*v1.ValidatingAdmissionPolicy)) {
	t.Helper()
	policies := c.polyfill.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the status controller writes the policy, too
		policy, err := policies.Get(t.Context(), "limit.example.com", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(policy)
		_, err = policies.Update(t.Context(), policy, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func parse[T any](t *testing.T, manifest string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func deployment(replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
}

// deploy returns the error of a request that would create a Deployment.
func (c *cluster) deploy(ctx context.Context, namespace string, replicas int32) error {
	_, err := c.Core.AppsV1().Deployments(namespace).Create(ctx, deployment(replicas), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// awaitDenied waits until a Deployment is denied with the message, and returns the error.
func (c *cluster) awaitDenied(t *testing.T, namespace string, replicas int32, message string) (denied error) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		denied = c.deploy(ctx, namespace, replicas)
		if denied == nil || !strings.Contains(denied.Error(), message) {
			return fmt.Errorf("got error %w for %d replicas, want %q", denied, replicas, message)
		}
		return nil
	})
	return denied
}

// count counts in an annotation how often it was applied.
const count = `
metadata: {name: count.example.com}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{metadata: Object.metadata{annotations: {"count": has(object.metadata.annotations) && "count" in object.metadata.annotations ? object.metadata.annotations["count"] + "I" : "I"}}}
`

// A mutating policy is applied once to each object while it changes its webhook, also if nobody can
// write webhooks and a new replica answers.
func TestMovingMutatingPolicy(t *testing.T) {
	c := install(t)
	first := c.start(t)
	first.awaitReady(t)
	namespace := c.Namespace(t, nil)
	policies := c.polyfill.AdmissionregistrationV1()
	policy := testserver.Must(policies.MutatingAdmissionPolicies().Create(t.Context(), parse[v1.MutatingAdmissionPolicy](t, count), metav1.CreateOptions{}))(t)
	testserver.Must(policies.MutatingAdmissionPolicyBindings().Create(t.Context(), &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "count"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	}, metav1.CreateOptions{}))(t)
	counted := func(ctx context.Context) error {
		created, err := c.Core.AppsV1().Deployments(namespace).Create(ctx, deployment(1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && created.Annotations["count"] != "I" {
			err = fmt.Errorf("the policy was applied so often: %q", created.Annotations["count"])
		}
		return err
	}
	testserver.Eventually(t, counted)
	move := func(to v1.FailurePolicyType) {
		t.Helper()
		if err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the status controller writes the policy, too
			policy, err := policies.MutatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			policy.Spec.FailurePolicy = &to
			_, err = policies.MutatingAdmissionPolicies().Update(t.Context(), policy, metav1.UpdateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	// check creates objects until done returns true.
	check := func(when string, done func() bool) {
		t.Helper()
		for !done() {
			if err := counted(t.Context()); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
		}
	}
	// webhook returns the name of the webhook of the policy.
	webhook := func() string {
		configuration := testserver.Must(c.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "policy.celador.io", metav1.GetOptions{}))(t)
		return configuration.Webhooks[0].Name
	}
	for _, to := range []v1.FailurePolicyType{v1.Ignore, v1.Fail, v1.Ignore, v1.Fail} {
		before := webhook()
		move(to)
		check("while the policy moves", func() bool { return webhook() != before })
		until := time.Now().Add(time.Second)
		check("after the policy has moved", func() bool { return time.Now().After(until) })
	}

	role := testserver.Must(c.Core.RbacV1().ClusterRoles().Get(t.Context(), service+":"+system, metav1.GetOptions{}))(t)
	for i, r := range role.Rules {
		if r.APIGroups[0] == "admissionregistration.k8s.io" {
			role.Rules[i].Verbs = slices.DeleteFunc(r.Verbs, func(verb string) bool { return verb == "update" })
		}
	}
	testserver.Must(c.Core.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error { // until nobody can write webhooks
		review := testserver.Must(c.Core.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + system + ":" + service,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: "policy.celador.io", Verb: "update"},
		}}, metav1.CreateOptions{}))(t)
		if review.Status.Allowed {
			return errors.New("the service account may write webhooks")
		}
		return nil
	})
	before := webhook()
	move(v1.Ignore)
	second := c.start(t)
	second.awaitReady(t)
	go first.Stop(2 * time.Minute)
	check("with a new replica", func() bool { return first.ready(t.Context()) != nil })
	until := time.Now().Add(2 * time.Second)
	check("without the old replica", func() bool { return time.Now().After(until) })
	if got := webhook(); got != before {
		t.Errorf("the webhook %s was written", got)
	}
}
