// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// limited returns the spec of a policy that limits the size of config maps in one namespace.
func limited(namespace, paramKind, failurePolicy, limit string) string {
	return `
paramKind: ` + paramKind + `
failurePolicy: ` + failurePolicy + `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}
  objectSelector: {matchExpressions: [{key: size, operator: Exists}]}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
validations:
- expression: params == null || int(object.data.size) <= int(` + limit + `)
  messageExpression: "'at most ' + string(` + limit + `) + ' says ' + params.metadata.name"`
}

// newLimit creates a config map as param, with a tier label.
func newLimit(t *testing.T, namespace, name, limit, tier string) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}, Data: map[string]string{"max": limit}}
	if _, err := core.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// expectLimit checks, once all earlier changes are in effect, that a config map of the size is
// denied with the text, or admitted if the text is empty.
func (d denier) expectLimit(t *testing.T, namespace, size, text string) {
	t.Helper()
	d.eventually(t, text, func() error { return newConfigMap(t, namespace, map[string]string{"size": size}) })
}

// eventually waits until a request is denied with the text, or admitted if the text is empty.
func (d denier) eventually(t *testing.T, text string, request func() error) {
	t.Helper()
	testserver.Eventually(t, func(context.Context) error {
		err := request()
		if text == "" {
			return err
		}
		if want := d.message(text); !apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), " is forbidden: "+want) {
			return fmt.Errorf("got error %w, want %s", err, want)
		}
		return nil
	})
}

const (
	configMapKind = `{apiVersion: v1, kind: ConfigMap}`
	namespaceKind = `{apiVersion: v1, kind: Namespace}`
	noParams      = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
)

func TestParams(t *testing.T) {
	t.Parallel()
	here, elsewhere := admin.Namespace(t, map[string]string{"max": "2"}), admin.Namespace(t, map[string]string{"max": "1"})
	newLimit(t, here, "high", "5", "gold")
	newLimit(t, here, "low", "3", "gold")
	newLimit(t, here, "tin", "1", "tin")
	newLimit(t, elsewhere, "low", "7", "gold")
	const ofNamespace = `params.metadata.labels['max']`

	for name, tc := range map[string]struct {
		// kind is by default ConfigMap, and limit the expression that reads the limit.
		kind, limit string
		// ref is the paramRef, by default with parameterNotFoundAction Deny.
		ref string
		// texts maps sizes of config maps to messages of denials, empty if admitted.
		texts map[string]string
		// config is true if the message reports missing params, to which failurePolicy applies.
		config bool
	}{
		"named":               {ref: `name: low, namespace: ` + elsewhere, texts: map[string]string{"7": "", "8": "at most 7 says low"}},
		"named in each":       {ref: `name: low`, texts: map[string]string{"3": "", "4": "at most 3 says low"}},
		"selected":            {ref: `selector: {matchLabels: {tier: tin}}, namespace: ` + here, texts: map[string]string{"1": "", "2": "at most 1 says tin"}},
		"selected in each":    {ref: `selector: {matchLabels: {tier: tin}}`, texts: map[string]string{"1": "", "2": "at most 1 says tin"}},
		"several":             {ref: `selector: {matchLabels: {tier: gold}}`, texts: map[string]string{"3": "", "4": "at most 3 says low", "6": "at most 5 says high"}},
		"all in a namespace":  {ref: `selector: {}, namespace: ` + elsewhere, texts: map[string]string{"7": "", "8": "at most 7 says low"}},
		"none by that name":   {ref: `name: other`, config: true, texts: map[string]string{"1": noParams}},
		"not in each":         {ref: `name: high, namespace: ` + elsewhere, config: true, texts: map[string]string{"1": noParams}},
		"none selected":       {ref: `selector: {matchLabels: {tier: lead}}`, config: true, texts: map[string]string{"1": noParams}},
		"none is fine":        {ref: `name: other, parameterNotFoundAction: Allow`, texts: map[string]string{"9": ""}},
		"none needs selected": {ref: `selector: {matchLabels: {tier: lead}}, parameterNotFoundAction: Allow`, texts: map[string]string{"9": ""}},
		"one is found":        {ref: `name: low, parameterNotFoundAction: Allow`, texts: map[string]string{"4": "at most 3 says low"}},
		"not referred to":     {texts: map[string]string{"9": ""}},
		"cluster-scoped":      {kind: namespaceKind, limit: ofNamespace, ref: `name: ` + here, texts: map[string]string{"2": "", "3": "at most 2 says " + here}},
		"selected cluster-scoped": {
			kind: namespaceKind, limit: ofNamespace, ref: `selector: {matchLabels: {kubernetes.io/metadata.name: ` + elsewhere + `}}`,
			texts: map[string]string{"1": "", "2": "at most 1 says " + elsewhere},
		},
		"cluster-scoped in a namespace": {
			kind: namespaceKind, limit: ofNamespace, ref: `name: ` + here + `, namespace: ` + here, config: true,
			texts: map[string]string{"1": "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		},
	} {
		failurePolicies := []string{"Fail"}
		if tc.config {
			failurePolicies = append(failurePolicies, "Ignore")
		}
		for _, failurePolicy := range failurePolicies {
			t.Run(name+" "+failurePolicy, func(t *testing.T) {
				policy := writePolicy(t, limited(here, cmp.Or(tc.kind, configMapKind), failurePolicy, cmp.Or(tc.limit, "params.data.max")))
				by := denier{policy, bind(t, policy, paramRef(t, tc.ref))}
				settle(t)
				for size, text := range tc.texts {
					if failurePolicy == "Ignore" {
						text = ""
					}
					by.expectLimit(t, here, size, text)
				}
			})
		}
	}
}

// paramRef returns the part of a binding's spec with these fields, by default with
// parameterNotFoundAction Deny.
func paramRef(t *testing.T, fields string) string {
	t.Helper()
	if fields == "" {
		return `{}`
	}
	ref := testserver.Parse[map[string]any](t, `{`+fields+`}`)
	if _, ok := ref["parameterNotFoundAction"]; !ok {
		fields += `, parameterNotFoundAction: Deny`
	}
	return `paramRef: {` + fields + `}`
}

// If the binding names no namespace, params come from the namespace of the request.
func TestParamsForClusterScopedRequests(t *testing.T) {
	t.Parallel()
	limits, label := admin.Namespace(t, nil), testserver.UniqueName("label")
	newLimit(t, limits, "low", "3", "gold")
	const noNamespace = "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
	for name, tc := range map[string]struct{ ref, text string }{
		"a namespace":         {`name: low, namespace: ` + limits, "low"},
		"no namespace":        {`name: low`, noNamespace},
		"a selector":          {`selector: {}`, noNamespace},
		"even if none is due": {`name: low, parameterNotFoundAction: Allow`, noNamespace},
	} {
		for _, failurePolicy := range []string{"Fail", "Ignore"} {
			t.Run(name+" "+failurePolicy, func(t *testing.T) {
				policy := writePolicy(t, `
paramKind: `+configMapKind+`
failurePolicy: `+failurePolicy+`
matchConstraints:
  objectSelector: {matchLabels: {run: `+label+`}}
  resourceRules: [{apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [clusterroles]}]
validations: [{expression: "false", messageExpression: string(params.metadata.name)}]`)
				by := denier{policy, bind(t, policy, paramRef(t, tc.ref))}
				settle(t)
				sent := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"run": label}}}
				text := tc.text
				if text == noNamespace && failurePolicy == "Ignore" {
					text = ""
				}
				by.eventually(t, text, func() error {
					_, err := core.RbacV1().ClusterRoles().Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					return err
				})
			})
		}
	}
}

// A param applies to requests right after its creation.
func TestNewParams(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("group")
	policy := writePolicy(t, configMaps("CREATE")+`
paramKind: `+configMapKind+`
validations: [{expression: int(object.data.size) <= int(params.data.max), messageExpression: "'at most ' + params.data.max"}]`)
	by := denier{policy, bind(t, policy, paramRef(t, `name: limits`)+`
matchResources:
  namespaceSelector: {matchLabels: {group: `+group+`}}
  objectSelector: {matchExpressions: [{key: size, operator: Exists}]}`)}
	labels := map[string]string{"group": group}
	by.expectLimit(t, admin.Namespace(t, labels), "1", noParams)
	for range 50 {
		ns := admin.Namespace(t, labels)
		by.expectInvalid(t, newConfigMap(t, ns, map[string]string{"size": "1"}), noParams)
		newLimit(t, ns, "limits", "5", "gold")
		testserver.ExpectAdmitted(t, newConfigMap(t, ns, map[string]string{"size": "5"}))
		by.expectInvalid(t, newConfigMap(t, ns, map[string]string{"size": "6"}), "at most 5")
	}
}

// Changes of params and of references to them take effect.
func TestParamChanges(t *testing.T) {
	t.Parallel()
	ns, limits, ctx := admin.Namespace(t, nil), admin.Namespace(t, nil), t.Context()
	newLimit(t, limits, "low", "3", "gold")
	policy := writePolicy(t, limited(ns, configMapKind, "Fail", "params.data.max"))
	by := denier{policy, bind(t, policy, paramRef(t, `selector: {matchLabels: {tier: gold}}, namespace: `+limits))}
	by.expectLimit(t, ns, "9", "at most 3 says low")

	client := core.CoreV1().ConfigMaps(limits)
	change := func(patch string) {
		t.Helper()
		if _, err := client.Patch(ctx, "low", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	change(`{"data": {"max": "4"}}`)
	by.expectLimit(t, ns, "9", "at most 4 says low")
	newLimit(t, limits, "lower", "2", "gold")
	by.expectLimit(t, ns, "3", "at most 2 says lower")
	testserver.ExpectAdmitted(t, client.Delete(ctx, "lower", metav1.DeleteOptions{}))
	by.expectLimit(t, ns, "3", "")
	change(`{"metadata": {"labels": {"tier": "tin"}}}`)
	by.expectLimit(t, ns, "3", noParams)

	_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Patch(ctx, by.binding, types.MergePatchType,
		[]byte(`{"spec": {"paramRef": {"selector": null, "name": "low"}}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	by.expectLimit(t, ns, "9", "at most 4 says low")
	_, err = policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(ctx, by.policy, types.MergePatchType,
		[]byte(`{"spec": {"paramKind": {"kind": "Secret"}}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	by.expectLimit(t, ns, "1", noParams)
}
