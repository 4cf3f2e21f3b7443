// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// Parameters that an author may read in a single namespace suffice for bindings that name this
// namespace.
func TestParametersInOneNamespace(t *testing.T) {
	t.Parallel()
	user, ns, ctx := author(t), testserver.UniqueName("access"), t.Context()
	client := stock(t, admin)
	testserver.Must(client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}))(t)
	testserver.Must(client.RbacV1().Roles(ns).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}}},
	}, metav1.CreateOptions{}))(t)
	testserver.Must(client.RbacV1().RoleBindings(ns).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := stock(t, as(user)).CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
		return err
	})
	bound := create(t, raw(t, admin, "v1", policies), object(t, "v1", policies, testserver.UniqueName("access"), policy(`
paramKind: {apiVersion: v1, kind: ConfigMap}
validations: [{expression: "true"}]`)))

	for ref, verb := range map[string]string{
		`name: limits, namespace: ` + ns:    "",
		`selector: {}, namespace: ` + ns:    "",
		`name: limits, namespace: default`:  "get",
		`selector: {}, namespace: default`:  "list",
		`name: limits`:                      "get",
		`selector: {matchLabels: {a: "b"}}`: "list",
	} {
		t.Run(ref, func(t *testing.T) {
			err := tryBinding(t, user, bound.GetName(), ref)
			if verb == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			expectCauses(t, err, map[string]string{"spec.paramRef": "Forbidden: user " + described(user) +
				` does not have "` + verb + `" permission on the object referenced by paramRef`})
		})
	}
}

// As long as a custom kind or a policy does not exist, only authors who may read every object can
// refer to it.
func TestParametersOfUnknownKinds(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("limits") + ".example.com"
	get := func(groups, resources string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{groups}, Resources: []string{resources}, Verbs: []string{"get"}}
	}
	limits, anyOfGroup, everything := author(t, get(group, "limits")), author(t, get(group, "*")), author(t, get("*", "*"))
	kind := `{apiVersion: ` + group + `/v1, kind: Limit}`
	tryPolicy := func(user string) error {
		sent := object(t, "v1", policies, testserver.UniqueName("access"), `
paramKind: `+kind+policy(`validations: [{expression: "true"}]`))
		_, err := raw(t, as(user), "v1", policies).Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	bound := create(t, raw(t, admin, "v1", policies), object(t, "v1", policies, testserver.UniqueName("access"), `
paramKind: `+kind+policy(`validations: [{expression: "true"}]`)))
	const ref = `name: limit`
	expect := func(err error, path, message string) {
		t.Helper()
		if message != "" {
			expectCauses(t, err, map[string]string{path: message})
		} else if err != nil {
			t.Error(err)
		}
	}

	for user, allowed := range map[string]bool{limits: false, anyOfGroup: true, everything: true} {
		message := ""
		if !allowed {
			message = "Forbidden: user " + described(user) +
				` must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=` + group + `/v1)`
		}
		expect(tryPolicy(user), "spec.paramKind", message)
	}
	for user, allowed := range map[string]bool{limits: false, everything: true} {
		for name, unknown := range map[string]string{
			"missing":       "unable to get policy missing",
			bound.GetName(): "unable to resolve paramKind &{" + group + "/v1 Limit}",
		} {
			message := ""
			if !allowed {
				message = "Forbidden: " + unknown + " to determine minimum required permissions and user " + described(user) +
					` does not have "get" permission for all groups, versions and resources`
			}
			expect(tryBinding(t, user, name, ref), "spec.paramRef", message)
		}
	}

	defineLimits(t, group)
	testserver.Eventually(t, func(context.Context) error {
		if err := tryPolicy(limits); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		return tryBinding(t, limits, bound.GetName(), ref)
	})
	blind := author(t)
	expect(tryPolicy(blind), "spec.paramKind", "Forbidden: user "+described(blind)+
		` must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=`+group+`/v1)`)
	expect(tryBinding(t, blind, bound.GetName(), ref), "spec.paramRef", "Forbidden: user "+described(blind)+
		` does not have "get" permission on the object referenced by paramRef`)
}

// tryBinding returns the error of the user's request to create a binding with a paramRef in a dry
// run.
func tryBinding(t *testing.T, user, policy, ref string) error {
	t.Helper()
	sent := object(t, "v1", bindings, testserver.UniqueName("access"), `{policyName: `+policy+`, validationActions: [Deny], paramRef: {parameterNotFoundAction: Deny, `+ref+`}}`)
	_, err := raw(t, as(user), "v1", bindings).Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// defineLimits defines the cluster-scoped kind Limit of the group in v1.
func defineLimits(t *testing.T, group string) {
	t.Helper()
	testserver.Must(testserver.NewClients(admin))(t).Define(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.`+group+`}
spec:
  group: `+group+`
  names: {kind: Limit, plural: limits}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := stock(t, admin).Discovery().ServerResourcesForGroupVersion(group + "/v1")
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is not served yet", group)
		}
		return err
	})
}
