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

// limited is the spec of a policy for config maps that have a size, in one namespace.
// A param states the limit.
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

// newLimit creates a config map that is a param, labelled with a tier.
func newLimit(t *testing.T, namespace, name, limit, tier string) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}, Data: map[string]string{"max": limit}}
	if _, err := core.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// expectLimit wants that a config map of the size is denied with the text once what
// was changed before is in effect, or admitted if there is no text.
func (d denier) expectLimit(t *testing.T, namespace, size, text string) {
	t.Helper()
	d.eventually(t, text, func() error { return newConfigMap(t, namespace, map[string]string{"size": size}) })
}

// eventually wants that a request comes to be denied with the text, or admitted if
// there is no text.
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
	here, elsewhere := namespace(t, map[string]string{"max": "2"}), namespace(t, map[string]string{"max": "1"})
	newLimit(t, here, "high", "5", "gold")
	newLimit(t, here, "low", "3", "gold")
	newLimit(t, here, "tin", "1", "tin")
	newLimit(t, elsewhere, "low", "7", "gold")
	const ofNamespace = `params.metadata.labels['max']`

	for name, tc := range map[string]struct {
		// kind is ConfigMap by default, and limit the one in its data.
		kind, limit string
		// ref is the paramRef. Without a parameterNotFoundAction that is Deny.
		ref string
		// texts are those of denials by the size of the config map, empty if it is admitted.
		texts map[string]string
		// config is set when the text tells that params cannot be had, which depends on
		// the failurePolicy.
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

// paramRef is the part of a binding's spec with these fields, if any, and Deny when
// there are no params unless they say otherwise.
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

// A namespace to look for params in comes from the request, if not from the binding.
func TestParamsForClusterScopedRequests(t *testing.T) {
	limits, label := namespace(t, nil), testserver.UniqueName("label")
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

// A param is there for requests right after its creation.
func TestNewParams(t *testing.T) {
	group := testserver.UniqueName("group")
	policy := writePolicy(t, configMaps("CREATE")+`
paramKind: `+configMapKind+`
validations: [{expression: int(object.data.size) <= int(params.data.max), messageExpression: "'at most ' + params.data.max"}]`)
	by := denier{policy, bind(t, policy, paramRef(t, `name: limits`)+`
matchResources:
  namespaceSelector: {matchLabels: {group: `+group+`}}
  objectSelector: {matchExpressions: [{key: size, operator: Exists}]}`)}
	labels := map[string]string{"group": group}
	by.expectLimit(t, namespace(t, labels), "1", noParams)
	for range 50 {
		ns := namespace(t, labels)
		by.expectInvalid(t, newConfigMap(t, ns, map[string]string{"size": "1"}), noParams)
		newLimit(t, ns, "limits", "5", "gold")
		expectAdmitted(t, newConfigMap(t, ns, map[string]string{"size": "5"}))
		by.expectInvalid(t, newConfigMap(t, ns, map[string]string{"size": "6"}), "at most 5")
	}
}

// Changes of params, and of what refers to them, take effect.
func TestParamChanges(t *testing.T) {
	ns, limits, ctx := namespace(t, nil), namespace(t, nil), t.Context()
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
	expectAdmitted(t, client.Delete(ctx, "lower", metav1.DeleteOptions{}))
	by.expectLimit(t, ns, "3", "")
	change(`{"metadata": {"labels": {"tier": "tin"}}}`)
	by.expectLimit(t, ns, "3", noParams)

	_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Patch(ctx, by.binding, types.MergePatchType,
		[]byte(`{"spec": {"paramRef": {"selector": null, "name": "low"}}}`), metav1.PatchOptions{})
	expectAdmitted(t, err)
	by.expectLimit(t, ns, "9", "at most 4 says low")
	_, err = policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(ctx, by.policy, types.MergePatchType,
		[]byte(`{"spec": {"paramKind": {"kind": "Secret"}}}`), metav1.PatchOptions{})
	expectAdmitted(t, err)
	by.expectLimit(t, ns, "1", noParams)
}
