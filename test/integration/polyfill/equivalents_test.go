// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

// bikes are custom resources in three versions, which differ in nothing else.
const bikes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bikes.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: bikes, singular: bike, kind: Bike, listKind: BikeList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v3, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

// versioned is a policy that warns of everything that it sees, and tells in which version it does.
const versioned = `
spec:
  validations:
  - expression: "false"
    messageExpression: "object.apiVersion + ' ' + request.resource.version + ' ' + request.kind.version + ' ' + request.requestResource.version"
`

// match returns match resources from a text such as "v1 v2 not v3": rules for these versions, and
// excludeResourceRules. An "exactly" at its beginning stands for matchPolicy Exact.
func match(group, resource, text string) *v1.MatchResources {
	m := &v1.MatchResources{MatchPolicy: new(v1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}}
	var exactly bool
	if text, exactly = strings.CutPrefix(text, "exactly "); exactly {
		m.MatchPolicy = new(v1.Exact)
	}
	rules := func(versions string) (rules []v1.NamedRuleWithOperations) {
		if listed := strings.Fields(versions); len(listed) > 0 {
			rules = []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
				Operations: []v1.OperationType{v1.Create},
				Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: listed, Resources: []string{resource}, Scope: new(v1.AllScopes)},
			}}}
		}
		return rules
	}
	included, excluded, _ := strings.Cut(text, "not ")
	m.ResourceRules, m.ExcludeResourceRules = rules(included), rules(excluded)
	return m
}

// create creates a policy and its binding.
func create(t *testing.T, client clientset.Interface, name, binding string, constraints, bound *v1.MatchResources) {
	t.Helper()
	p := parse[v1.ValidatingAdmissionPolicy](t, versioned)
	p.Name, p.Spec.MatchConstraints = name, constraints
	policies := client.AdmissionregistrationV1()
	testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), p, metav1.CreateOptions{}))(t)
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name + "." + binding},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Warn}, MatchResources: bound},
	}, metav1.CreateOptions{}))(t)
}

// warned collects the warnings of one request, by the kind of their bindings.
type warned map[string][]string

var warningOf = regexp.MustCompile(`ValidatingAdmissionPolicy '(\S+)' with binding '\S+\.(native|polyfill)': (.*)`)

// HandleWarningHeader implements rest.WarningHandler.
func (w warned) HandleWarningHeader(_ int, _, text string) {
	if found := warningOf.FindStringSubmatch(text); found != nil {
		w[found[2]] = append(w[found[2]], found[1]+": "+found[3])
	}
}

// Policies and bindings match the versions of a resource as native ones do, and see the object in
// the same version.
func TestEquivalentVersions(t *testing.T) {
	c := install(t)
	c.start(t).awaitReady(t)
	c.Define(t, bikes)
	for i, test := range []struct{ policy, binding string }{
		{"v1", ""}, {"v2", "v1"}, {"v1", "v3"}, {"v1", "exactly v3"}, {"v1", "exactly v1"}, {"exactly v2", "v3"}, {"exactly v2", ""}, {"v1 not v2", ""}, {"v1 not v3", ""},
		{"exactly v1 not v2", ""}, {"v1", "not v3"}, {"v1", "exactly not v3"}, {"v3 v2", "exactly v1"}, {"v1 v2 v3", "v2"}, {"*", "exactly v2"}, {"*", "v3"}, {"v2", ""},
	} {
		var bound *v1.MatchResources
		if test.binding != "" {
			bound = match("shop.example.com", "bikes", test.binding)
		}
		name := fmt.Sprintf("p%02d", i)
		create(t, c.Policies, name, "native", match("shop.example.com", "bikes", test.policy), bound)
		create(t, c.polyfill, name, "polyfill", match("shop.example.com", "bikes", test.policy), bound)
	}
	// The two groups of events are one resource for the API server.
	create(t, c.Policies, "events", "native", match("events.k8s.io", "events", "v1"), match("", "events", "v1"))
	create(t, c.polyfill, "events", "polyfill", match("events.k8s.io", "events", "v1"), match("", "events", "v1"))

	namespace := c.Namespace(t, nil)
	for _, r := range []struct {
		resource schema.GroupVersionResource
		object   string
		least    int // the number of policies that match
	}{
		{schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "bikes"}, "{kind: Bike}", 10},
		{schema.GroupVersionResource{Group: "shop.example.com", Version: "v2", Resource: "bikes"}, "{kind: Bike}", 10},
		{schema.GroupVersionResource{Group: "shop.example.com", Version: "v3", Resource: "bikes"}, "{kind: Bike}", 7},
		{schema.GroupVersionResource{Version: "v1", Resource: "events"}, "{kind: Event, involvedObject: {namespace: " + namespace + "}}", 1},
		{schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
			`{kind: Event, regarding: {namespace: ` + namespace + `}, eventTime: "2026-01-01T00:00:00.000000Z", action: a, reason: r, type: Normal, reportingController: example.com/c, reportingInstance: i}`, 1},
	} {
		testserver.Eventually(t, func(ctx context.Context) error {
			got := warned{}
			config := rest.CopyConfig(c.Config)
			config.WarningHandler = got
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				return err
			}
			object := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, r.object)}
			object.SetAPIVersion(r.resource.GroupVersion().String())
			object.SetName(testserver.UniqueName("x"))
			if _, err := client.Resource(r.resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
				return err
			}
			for _, list := range got {
				slices.Sort(list)
			}
			if native := got["native"]; !slices.Equal(native, got["polyfill"]) || len(native) < r.least {
				return fmt.Errorf("%v: native policies warn of\n%s\npolicies of the polyfill of\n%s", r.resource, strings.Join(native, "\n"), strings.Join(got["polyfill"], "\n"))
			}
			return nil
		})
	}
}
