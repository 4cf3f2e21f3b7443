// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/polyfill/pkg/registration"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/integration/testserver"
)

// The polyfill refuses invalid policies and type errors of those that are Enforced, tells other type
// errors in the status, corrects its webhook configurations, and is called no more once it is
// uninstalled.
func TestInstallation(t *testing.T) {
	c, namespace := withLimit(t, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	c.start(t, "--feature-gates=AdmissionPolicyTypeEnforcement=true").awaitReady(t)
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	policies := c.polyfill.AdmissionregistrationV1().ValidatingAdmissionPolicies()

	invalid := parse[v1.ValidatingAdmissionPolicy](t, noTwenty)
	invalid.Name, invalid.Spec.Validations[0].Expression = "invalid", "object.spec.replicas <"
	_, err := policies.Create(t.Context(), invalid, metav1.CreateOptions{})
	const want = `ValidatingAdmissionPolicy.policy.celador.io "invalid" is invalid: spec.validations[0].expression: Invalid value: "object.spec.replicas <": compilation failed`
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}

	invalid.Spec.TypeChecking, invalid.Spec.Validations[0].Expression = new(v1.EnforcedTypeChecking), "object.spec.replica < 20"
	_, err = policies.Create(t.Context(), invalid, metav1.CreateOptions{})
	const wantTypes = `ValidatingAdmissionPolicy.policy.celador.io "invalid" is invalid: spec.validations[0].expression: Invalid value: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'`
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), wantTypes) {
		t.Errorf("got error %v, want %s", err, wantTypes)
	}
	// As on an API server, a policy for a type that is not built in is stored.
	invalid.Spec.MatchConstraints.ResourceRules[0].APIGroups = []string{"example.com"}
	testserver.Must(policies.Create(t.Context(), invalid, metav1.CreateOptions{}))(t)

	c.change(t, func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].Expression = "object.spec.replica < 20" })
	testserver.Eventually(t, func(ctx context.Context) error {
		policy, err := policies.Get(ctx, "limit.example.com", metav1.GetOptions{})
		if err != nil {
			return err
		}
		checked := policy.Status.TypeChecking
		if policy.Status.ObservedGeneration != policy.Generation || checked == nil || len(checked.ExpressionWarnings) != 1 || !strings.Contains(checked.ExpressionWarnings[0].Warning, "undefined field 'replica'") {
			return fmt.Errorf("generation %d has the status %+v", policy.Generation, policy.Status)
		}
		return nil
	})
	c.change(t, func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].Expression = "object.spec.replicas < 20" })

	configurations := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	// registered waits until both webhooks are there: those of the policy, and of writes of policies.
	registered := func() (configuration *admissionregistrationv1.ValidatingWebhookConfiguration) {
		t.Helper()
		testserver.Eventually(t, func(ctx context.Context) (err error) {
			configuration, err = configurations.Get(ctx, registration.Name, metav1.GetOptions{})
			if err == nil && len(configuration.Webhooks) != 2 {
				err = fmt.Errorf("there are %d webhooks, want 2", len(configuration.Webhooks))
			}
			return err
		})
		return configuration
	}
	testserver.ExpectDeleted(t, configurations.Delete(t.Context(), registration.Name, metav1.DeleteOptions{}))
	edited := registered()
	edited.Webhooks, edited.OwnerReferences = nil, nil
	testserver.Must(configurations.Update(t.Context(), edited, metav1.UpdateOptions{}))(t)
	registered()
	c.awaitDenied(t, namespace, 20, "denied request: too many")

	c.uninstall(t)
	testserver.Eventually(t, func(ctx context.Context) error { return c.deploy(ctx, namespace, 20) })
	left := testserver.Must(configurations.Get(t.Context(), registration.Name, metav1.GetOptions{}))(t)
	if len(left.Webhooks) != 0 {
		t.Errorf("%d webhooks are left", len(left.Webhooks))
	}
}

// uninstall runs the command that the chart runs before it deletes the release.
func (c *cluster) uninstall(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	p := testserver.Must(process.Start(replica, testserver.Must(os.Executable())(t), dir, filepath.Join(dir, "log"),
		replica, "uninstall", "--kubeconfig="+c.kubeconfig, "--namespace="+system, "--service-name="+service))(t)
	if err := p.Err(); err != nil {
		t.Fatal(errors.Join(err, errors.New(string(testserver.Must(os.ReadFile(p.Log()))(t)))))
	}
}
