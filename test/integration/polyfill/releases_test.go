// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/polyfill/pkg/registration"

	"celador.io/celador/test/integration/testserver"
)

const ownerAnnotation = "policy.celador.io/owner"

// The first release of a cluster has the webhook configurations, even if somebody edits their
// annotations, until it is uninstalled. Replicas of others are not ready.
func TestReleases(t *testing.T) {
	c, namespace := withLimit(t)
	first := c.start(t)
	first.awaitReady(t)
	c.awaitDenied(t, namespace, 20, "denied request: too many")

	other := c.Namespace(t, nil)
	testserver.Must(c.Core.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "other:" + other}}, metav1.CreateOptions{}))(t)
	admin := "--kubeconfig=" + c.adminKubeconfig(t)
	second := c.start(t, admin, "--namespace="+other, "--service-name=other")
	namesake := c.start(t, admin, "--namespace="+other)
	for _, r := range []*polyfillReplica{second, namesake} {
		testserver.Eventually(t, func(ctx context.Context) error { return r.isOnlyUnreadyFor(ctx, "webhook-configurations") })
	}

	for _, owner := range []string{other + "/other", other + "/" + service, "edited/by-hand", ""} {
		c.setOwner(t, owner)
		testserver.Eventually(t, func(ctx context.Context) error { return c.hasOwner(ctx, system+"/"+service) })
		if err := first.ready(t.Context()); err != nil {
			t.Errorf("with the owner %q: %v", owner, err)
		}
		for _, r := range []*polyfillReplica{second, namesake} {
			if err := r.isOnlyUnreadyFor(t.Context(), "webhook-configurations"); err != nil {
				t.Errorf("with the owner %q: %v", owner, err)
			}
		}
	}
	c.awaitDenied(t, namespace, 20, "denied request: too many")

	c.uninstall(t)
	first.Stop(0)
	namesake.Stop(0)
	configurations := c.Core.AdmissionregistrationV1()
	// As the garbage collector does.
	testserver.ExpectDeleted(t, configurations.ValidatingWebhookConfigurations().Delete(t.Context(), registration.Name, metav1.DeleteOptions{}))
	testserver.ExpectDeleted(t, configurations.MutatingWebhookConfigurations().Delete(t.Context(), registration.Name, metav1.DeleteOptions{}))
	second.awaitReady(t)
	testserver.Eventually(t, func(ctx context.Context) error { return c.hasOwner(ctx, other+"/other") })
}

// adminKubeconfig returns the path of a kubeconfig of a user who may do everything.
func (c *cluster) adminKubeconfig(t *testing.T) string {
	t.Helper()
	config := testserver.Must(clientcmd.LoadFromFile(c.kubeconfig))(t)
	config.AuthInfos["replica"].Token = c.server.Admin.BearerToken
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// setOwner edits the annotation of both webhook configurations.
func (c *cluster) setOwner(t *testing.T, owner string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		validating, err := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, registration.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		validating.Annotations[ownerAnnotation] = owner
		mutating, err := c.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, registration.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		mutating.Annotations[ownerAnnotation] = owner
		_, validatingErr := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, validating, metav1.UpdateOptions{})
		_, mutatingErr := c.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(ctx, mutating, metav1.UpdateOptions{})
		return errors.Join(validatingErr, mutatingErr)
	})
}

// hasOwner returns an error unless both webhook configurations have the annotation.
func (c *cluster) hasOwner(ctx context.Context, owner string) error {
	validating, validatingErr := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, registration.Name, metav1.GetOptions{})
	mutating, mutatingErr := c.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, registration.Name, metav1.GetOptions{})
	if err := errors.Join(validatingErr, mutatingErr); err != nil {
		return err
	}
	for _, annotations := range []map[string]string{validating.Annotations, mutating.Annotations} {
		if annotations[ownerAnnotation] != owner {
			return fmt.Errorf("the owner is %q, want %q", annotations[ownerAnnotation], owner)
		}
	}
	return nil
}

// isOnlyUnreadyFor returns an error unless the replica is not ready because of one check only.
func (r *polyfillReplica) isOnlyUnreadyFor(ctx context.Context, check string) error {
	text, err := r.healthText(ctx, "/readyz?verbose")
	if failed := "[-]" + check + " failed"; err == nil && (!strings.Contains(text, failed) || strings.Count(text, "[-]") != 1) {
		err = fmt.Errorf("readiness is %s", text)
	}
	return err
}

// healthText returns the answer of the server of health checks and metrics, whatever its code is.
func (r *polyfillReplica) healthText(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", r.health, path), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
