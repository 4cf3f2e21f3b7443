// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

// Authors of policies must have permission to read the parameters that their policies refer to.
func TestParametersMustBeReadable(t *testing.T) {
	t.Parallel()
	blind := author(t)
	getter := author(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}})
	lister := author(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	getsOne := author(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}, ResourceNames: []string{"limits"}})

	bound := create(t, raw(t, admin, "v1", policies), object(t, "v1", policies, testserver.UniqueName("access"), `
paramKind: {apiVersion: v1, kind: ConfigMap}`+policy(`validations: [{expression: "true"}]`)))
	parameterized := policy(`
paramKind: {apiVersion: v1, kind: ConfigMap}
validations: [{expression: "true"}]`)
	plain := policy(`validations: [{expression: "true"}]`)
	binding := func(ref string) string {
		return `{policyName: ` + bound.GetName() + `, validationActions: [Deny], paramRef: ` + ref + `}`
	}
	byName := binding(`{name: limits, namespace: default, parameterNotFoundAction: Deny}`)
	bySelector := binding(`{selector: {matchLabels: {a: b}}, parameterNotFoundAction: Deny}`)

	kindForbidden := func(user string) map[string]string {
		return map[string]string{"spec.paramKind": "Forbidden: user " + described(user) +
			` must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`}
	}
	refForbidden := func(user, verb string) map[string]string {
		return map[string]string{"spec.paramRef": "Forbidden: user " + described(user) +
			` does not have "` + verb + `" permission on the object referenced by paramRef`}
	}
	for name, tc := range map[string]struct {
		user, resource, spec string
		want                 map[string]string
	}{
		"policy without parameters":         {user: blind, resource: policies, spec: plain},
		"policy, nothing readable":          {user: blind, resource: policies, spec: parameterized, want: kindForbidden(blind)},
		"policy, one object readable":       {user: getsOne, resource: policies, spec: parameterized, want: kindForbidden(getsOne)},
		"policy, all readable":              {user: getter, resource: policies, spec: parameterized},
		"binding to a name, nothing":        {user: blind, resource: bindings, spec: byName, want: refForbidden(blind, "get")},
		"binding to a name, readable":       {user: getsOne, resource: bindings, spec: byName},
		"binding to a selector, get only":   {user: getter, resource: bindings, spec: bySelector, want: refForbidden(getter, "list")},
		"binding to a selector, may list":   {user: lister, resource: bindings, spec: bySelector},
		"binding to a name, list only":      {user: lister, resource: bindings, spec: byName, want: refForbidden(lister, "get")},
		"binding to no parameters, nothing": {user: blind, resource: bindings, spec: `{policyName: p, validationActions: [Deny]}`},
	} {
		for _, version := range versions[tc.resource] {
			t.Run(name+" "+version, func(t *testing.T) {
				sent := object(t, version, tc.resource, testserver.UniqueName("access"), tc.spec)
				t.Cleanup(func() { remove(t, raw(t, admin, version, tc.resource), sent.GetName()) })
				_, err := raw(t, as(tc.user), version, tc.resource).Create(t.Context(), sent, metav1.CreateOptions{})
				if tc.want != nil {
					expectCauses(t, err, tc.want)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// An author who may not read the parameters may still change other fields of the policy.
func TestParametersMustBeReadableOnUpdate(t *testing.T) {
	t.Parallel()
	blind := author(t)
	stored := create(t, raw(t, admin, "v1", policies), object(t, "v1", policies, testserver.UniqueName("access"), policy(`
paramKind: {apiVersion: v1, kind: ConfigMap}
validations: [{expression: "true"}]`)))
	client := raw(t, as(blind), "v1", policies)

	stored.SetLabels(map[string]string{"changed": "true"})
	stored = testserver.Must(client.Update(t.Context(), stored, metav1.UpdateOptions{}))(t)

	stored.Object["spec"].(map[string]any)["paramKind"] = map[string]any{"apiVersion": "v1", "kind": "Secret"}
	_, err := client.Update(t.Context(), stored, metav1.UpdateOptions{})
	expectCauses(t, err, map[string]string{"spec.paramKind": "Forbidden: user " + described(blind) +
		` must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`})
}

func as(user string) *rest.Config {
	config := rest.CopyConfig(admin)
	config.Impersonate.UserName = user
	return config
}

// described returns the user as error messages print it.
func described(user string) string { return "&{" + user + "  [system:authenticated] map[]}" }

// author returns a user with all permissions for policies and bindings, and with the given rules.
func author(t *testing.T, more ...rbacv1.PolicyRule) string {
	t.Helper()
	user := testserver.UniqueName("author")
	rules := append(more, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{policies, bindings}, Verbs: []string{"*"}})
	client := stock(t, admin).RbacV1()
	testserver.Create(t, client.ClusterRoles(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules})
	testserver.Create(t, client.ClusterRoleBindings(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	// The authorizer receives new roles a moment later.
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := raw(t, as(user), "v1", policies).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return fmt.Errorf("the authorizer does not know %s yet: %w", user, err)
		}
		return nil
	})
	return user
}
