// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/polyfill/pkg/routing"
)

// bound returns the policies with a binding for each.
func bound(policies ...any) routing.Inventory {
	var p routing.Inventory
	for _, policy := range policies {
		switch policy := policy.(type) {
		case *v1.ValidatingAdmissionPolicy:
			p.Validating = append(p.Validating, policy)
			p.ValidatingBindings = append(p.ValidatingBindings, &v1.ValidatingAdmissionPolicyBinding{Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name}})
		case *v1.MutatingAdmissionPolicy:
			p.Mutating = append(p.Mutating, policy)
			p.MutatingBindings = append(p.MutatingBindings, &v1.MutatingAdmissionPolicyBinding{Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name}})
		}
	}
	return p
}

// policyWebhooks returns the validating webhooks without the one for the polyfill's kinds.
func policyWebhooks(t *testing.T, p routing.Inventory) []admissionregistrationv1.ValidatingWebhook {
	t.Helper()
	validating, _, _ := routing.Webhooks(p, options)
	if len(validating) == 0 || validating[0].Name != "policies.policy.celador.io" {
		t.Fatalf("the first webhook of %v is not for policies", validating)
	}
	return validating[1:]
}

func webhookRule(operations, groups, versions, resources string) admissionregistrationv1.RuleWithOperations {
	r := admissionregistrationv1.RuleWithOperations{Rule: admissionregistrationv1.Rule{
		APIGroups: strings.Split(groups, ","), APIVersions: strings.Split(versions, ","), Resources: strings.Split(resources, ","), Scope: new(admissionregistrationv1.AllScopes),
	}}
	for _, o := range strings.Split(operations, ",") {
		r.Operations = append(r.Operations, admissionregistrationv1.OperationType(o))
	}
	return r
}

// A webhook sets all fields that have a default, so that what API servers return is equal to it.
func TestWebhooks(t *testing.T) {
	blue := &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
	v, m := validating("v", rule("apps", "v1", "deployments")), mutating("m", rule("apps", "v1", "deployments"))
	v.Spec.FailurePolicy, v.Spec.MatchConstraints.NamespaceSelector = new(v1.Ignore), blue
	m.Spec.ReinvocationPolicy, m.Spec.MatchConstraints.MatchPolicy, m.Spec.MatchConstraints.ObjectSelector = v1.IfNeededReinvocationPolicy, new(v1.Exact), blue
	gotValidating, gotMutating, gotMembers := routing.Webhooks(bound(v, m), options)
	service := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{
			Service:  &admissionregistrationv1.ServiceReference{Namespace: "celador", Name: "celador-webhook", Path: &path, Port: new(int32(443))},
			CABundle: []byte("CA"),
		}
	}
	none, timeout, everything := new(admissionregistrationv1.SideEffectClassNone), new(int32(10)), &metav1.LabelSelector{}
	exclusions := []admissionregistrationv1.MatchCondition{
		{Name: "exclude-own-namespace", Expression: `!(has(request.namespace) && request.namespace == "celador")`},
		{Name: "exclude-own-user", Expression: `!(has(request.userInfo.username) && request.userInfo.username == "system:serviceaccount:celador:celador-webhook")`},
		{Name: "exclude-policies", Expression: `!(request.resource.group == "policy.celador.io")`},
		{Name: "exclude-leases", Expression: `!(request.resource.group == "coordination.k8s.io" && request.resource.resource == "leases" && has(request.namespace) && request.namespace in ["kube-system", "kube-node-lease"])`},
		{Name: "exclude-reviews", Expression: `!(request.resource.group in ["authentication.k8s.io", "authorization.k8s.io"])`},
	}
	wantValidating := []admissionregistrationv1.ValidatingWebhook{{
		Name: "policies.policy.celador.io", ClientConfig: service("/policies"),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"policy.celador.io"}, APIVersions: []string{"v1"}, Scope: new(admissionregistrationv1.ClusterScope),
				Resources: []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings"},
			},
		}},
		FailurePolicy: new(admissionregistrationv1.Fail), MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: everything, ObjectSelector: everything,
		SideEffects: none, TimeoutSeconds: timeout, AdmissionReviewVersions: []string{"v1"},
	}, {
		Name: routing.ValidatingRoute(v).Name + ".policy.celador.io", ClientConfig: service(routing.ValidatingRoute(v).Path(v.Name)),
		Rules:         []admissionregistrationv1.RuleWithOperations{webhookRule("*", "apps", "v1", "deployments")},
		FailurePolicy: new(admissionregistrationv1.Ignore), MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: blue, ObjectSelector: everything,
		SideEffects: none, TimeoutSeconds: timeout, AdmissionReviewVersions: []string{"v1"}, MatchConditions: exclusions,
	}}
	if diff := cmp.Diff(wantValidating, gotValidating); diff != "" {
		t.Errorf("validating webhooks differ (-want +got):\n%s", diff)
	}
	wantMutating := []admissionregistrationv1.MutatingWebhook{{
		Name: routing.MutatingRoute(m).Name + ".policy.celador.io", ClientConfig: service(routing.MutatingRoute(m).Path(m.Name)),
		Rules:         []admissionregistrationv1.RuleWithOperations{webhookRule("CONNECT,CREATE,UPDATE", "apps", "v1", "deployments")},
		FailurePolicy: new(admissionregistrationv1.Fail), MatchPolicy: new(admissionregistrationv1.Exact), NamespaceSelector: everything, ObjectSelector: blue,
		SideEffects: none, TimeoutSeconds: timeout, AdmissionReviewVersions: []string{"v1"}, MatchConditions: exclusions,
		ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
	}}
	if diff := cmp.Diff(wantMutating, gotMutating); diff != "" {
		t.Errorf("mutating webhooks differ (-want +got):\n%s", diff)
	}
	wantMembers := map[routing.Kind]routing.Members{
		routing.Validating: {routing.ValidatingRoute(v).Path(v.Name): {v.Name}}, routing.Mutating: {routing.MutatingRoute(m).Path(m.Name): {m.Name}},
	}
	if diff := cmp.Diff(wantMembers, gotMembers); diff != "" {
		t.Errorf("members differ (-want +got):\n%s", diff)
	}
}

func TestWebhookRules(t *testing.T) {
	named := func(r v1.NamedRuleWithOperations, names ...string) v1.NamedRuleWithOperations {
		r.ResourceNames = names
		return r
	}
	type list = []admissionregistrationv1.RuleWithOperations
	for name, test := range map[string]struct {
		policies []any
		want     []list
	}{
		"rules of two policies are merged": {
			[]any{validating("a", rule("apps", "v1", "deployments")), validating("b", rule("apps", "v1", "daemonsets,deployments"), rule("batch", "v1", "jobs"))},
			[]list{{webhookRule("*", "apps", "v1", "daemonsets,deployments"), webhookRule("*", "batch", "v1", "jobs")}},
		},
		"wildcards cover resources": {
			[]any{validating("a", rule("apps", "v1", "deployments,deployments/scale,*/status")), validating("b", rule("apps", "v1", "deployments/*,daemonsets/status,*"))},
			[]list{{webhookRule("*", "apps", "v1", "*,*/status,deployments/*")}},
		},
		"everything":                {[]any{validating("a", rule("apps,*", "*,v1", "*/*,pods"))}, []list{{webhookRule("*", "*", "*", "*/*")}}},
		"no rules":                  {[]any{validating("a")}, []list{{webhookRule("*", "*", "*", "*/*")}}},
		"resourceNames are dropped": {[]any{validating("a", named(rule("apps", "v1", "deployments"), "web"))}, []list{{webhookRule("*", "apps", "v1", "deployments")}}},
		"rules of different versions keep their order": {
			[]any{validating("a", rule("batch", "v1", "jobs"), rule("apps", "v1beta1", "deployments"))},
			[]list{{webhookRule("*", "batch", "v1", "jobs"), webhookRule("*", "apps", "v1beta1", "deployments")}},
		},
		"names in rules of different versions": {
			[]any{validating("a", named(rule("apps", "v1beta1", "deployments"), "web", "api"), rule("apps", "v1", "deployments"))},
			[]list{{webhookRule("*", "apps", "v1", "deployments")}, {webhookRule("*", "apps", "v1beta1", "deployments"), webhookRule("*", "apps", "v1", "deployments")}},
		},
		"rules that never match":          {[]any{validating("a", rule("apps", "", "deployments"), rule("apps", "v1", ""), v1.NamedRuleWithOperations{})}, nil},
		"the polyfill's own objects":      {[]any{validating("a", rule("policy.celador.io", "v1", "*"))}, []list{{webhookRule("*", "policy.celador.io", "v1", "*")}}},
		"a policy of each failure policy": {[]any{validating("a", rule("apps", "v1", "deployments")), ignoring(validating("b", rule("apps", "v1", "daemonsets")))}, []list{{webhookRule("*", "apps", "v1", "deployments")}, {webhookRule("*", "apps", "v1", "daemonsets")}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []list
			for _, w := range policyWebhooks(t, bound(test.policies...)) {
				got = append(got, w.Rules)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rules differ (-want +got):\n%s", diff)
			}
		})
	}
}

func ignoring(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	p.Spec.FailurePolicy = new(v1.Ignore)
	return p
}

// Only policies that apply have a webhook.
func TestUnboundPolicies(t *testing.T) {
	v, m, singleton := validating("p", rule("apps", "v1", "deployments")), mutating("p", rule("apps", "v1", "deployments")), validating("singleton", rule("apps", "v1", "deployments"))
	singleton.Spec.PolicyType = new(v1.SingletonPolicy)
	mutatingSingleton := mutating("singleton", rule("apps", "v1", "deployments"))
	mutatingSingleton.Spec.PolicyType = new(v1.SingletonPolicy)
	boundOnly := func(kind string, p routing.Inventory) routing.Inventory {
		if kind != "validating" {
			p.ValidatingBindings = nil
		}
		if kind != "mutating" {
			p.MutatingBindings = nil
		}
		return p
	}
	for name, test := range map[string]struct {
		policies             routing.Inventory
		validating, mutating int
	}{
		"validating":         {boundOnly("validating", bound(v, m)), 1, 0},
		"mutating":           {boundOnly("mutating", bound(v, m)), 0, 1},
		"none":               {boundOnly("", bound(v, m)), 0, 0},
		"singleton":          {boundOnly("", bound(singleton, m)), 1, 0},
		"mutating singleton": {boundOnly("", bound(v, mutatingSingleton)), 0, 1},
	} {
		_, mutating, _ := routing.Webhooks(test.policies, options)
		if validating := policyWebhooks(t, test.policies); len(validating) != test.validating || len(mutating) != test.mutating {
			t.Errorf("%s: %d validating and %d mutating webhooks", name, len(validating), len(mutating))
		}
	}
}

// The order of policies and bindings is of no account.
func TestOrder(t *testing.T) {
	var policies []any
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for i := range 50 {
		v := validating(fmt.Sprint("p", i))
		v.Spec.MatchConstraints, v.Spec.MatchConditions = g.constraints(), g.conditions()
		policies = append(policies, v)
	}
	want := policyWebhooks(t, bound(policies...))
	for range 5 {
		g.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
		if diff := cmp.Diff(want, policyWebhooks(t, bound(policies...))); diff != "" {
			t.Fatalf("webhooks differ (-want +got):\n%s", diff)
		}
	}
}

// Policies are applied in the order of their names, as far as routes allow.
func TestOrderOfMutations(t *testing.T) {
	_, webhooks, _ := routing.Webhooks(bound(mutating("d", rule("apps", "v4", "*")), mutating("c", rule("apps", "v2", "*")), mutating("b", rule("apps", "v3", "*")), mutating("a", rule("apps", "v2", "*"))), options)
	var got []string
	for _, w := range webhooks {
		got = append(got, w.Rules[0].APIVersions[0])
	}
	if want := []string{"v2", "v3", "v4"}; !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

const guards = "!has(request.userInfo.username) || !has(request.userInfo.groups) || "

// pushed returns the expression that API servers evaluate for policies with the given conditions on
// one route.
func pushed(t *testing.T, conditions ...[]string) string {
	t.Helper()
	var policies []any
	for i, list := range conditions {
		p := validating(fmt.Sprint("p", i), rule("apps", "v1", "deployments"))
		for j, expression := range list {
			p.Spec.MatchConditions = append(p.Spec.MatchConditions, v1.MatchCondition{Name: fmt.Sprint("c", j), Expression: expression})
		}
		policies = append(policies, p)
	}
	return pushedOf(t, policies...)
}

func pushedOf(t *testing.T, policies ...any) string {
	t.Helper()
	webhooks := policyWebhooks(t, bound(policies...))
	if len(webhooks) != 1 {
		t.Fatalf("%d webhooks", len(webhooks))
	}
	conditions := webhooks[0].MatchConditions
	last := conditions[len(conditions)-1]
	if last.Name != "policies" {
		return ""
	}
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	compiled := compiler.CompileCondition([]cel.ExpressionAccessor{&matchconditions.MatchCondition{Expression: last.Expression}}, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
	if errs := compiled.CompilationErrors(); len(errs) > 0 {
		t.Errorf("%s does not compile: %v", last.Expression, errs)
	}
	if !strings.HasPrefix(last.Expression, guards) {
		t.Errorf("%s fails for users without a name", last.Expression)
	}
	return strings.TrimPrefix(last.Expression, guards)
}

// What cannot fail, and reads nothing but the request, is evaluated by the API server.
func TestPushedConditions(t *testing.T) {
	for expression, want := range map[string]string{
		`request.operation == 'CREATE'`:                                                                   `(request.operation == "CREATE")`,
		`request.operation in ['CREATE', "DELETE"] // a comment`:                                          `(request.operation in ["CREATE", "DELETE"])`,
		`!(request.userInfo.username.startsWith("system:"))`:                                              `(!request.userInfo.username.startsWith("system:"))`,
		`request.kind.kind.endsWith('y') && request.kind.group.contains('x') || true`:                     `(request.kind.kind.endsWith("y") && request.kind.group.contains("x") || true)`,
		`request.resource.resource.matches('^a+$') ? request.operation != 'x' : false`:                    `(request.resource.resource.matches("^a+$") ? (request.operation != "x") : false)`,
		`'a' in request.userInfo.groups`:                                                                  `("a" in request.userInfo.groups)`,
		`request.userInfo.groups.exists(g, g == 'a' || g.startsWith('b'))`:                                `(request.userInfo.groups.exists(g, g == "a" || g.startsWith("b")))`,
		`request.userInfo.groups.all(g, g in ['a'])`:                                                      `(request.userInfo.groups.all(g, g in ["a"]))`,
		`'\" || object.x == \"' == request.operation`:                                                     `("\" || object.x == \"" == request.operation)`,
		`object.metadata.name == 'x'`:                                                                     "",
		`request.name == 'x'`:                                                                             "",
		`request.namespace == 'x'`:                                                                        "",
		`has(request.namespace)`:                                                                          "",
		`has(request.operation)`:                                                                          "",
		`request.userInfo.extra['a'] == ['b']`:                                                            "",
		`request.userInfo.groups[0] == 'a'`:                                                               "",
		`request.operation.matches(request.kind.kind)`:                                                    "",
		`request.operation.matches('(')`:                                                                  "",
		`request.operation == 1`:                                                                          "",
		`request.operation`:                                                                               "",
		`request.operation in 'CREATE'`:                                                                   "",
		`request.operation == 'a' == 'b'`:                                                                 "",
		`!request.operation`:                                                                              "",
		`request.userInfo.groups.exists(g, g)`:                                                            "",
		`request.userInfo.groups.exists(g, g.matches('a'))`:                                               "",
		`request.userInfo.groups.exists(g, request.userInfo.groups.exists(h, h == g))`:                    "",
		`request.userInfo.groups.exists(request, request == 'a')`:                                         "",
		`request.userInfo.groups.exists(__result__, __result__ == 'a')`:                                   "",
		`request.userInfo.groups.map(g, g) == []`:                                                         "",
		`request.userInfo.groups.exists(g, g == 'a') && g == 'a'`:                                         "",
		`['a'].exists(g, g == 'a')`:                                                                       "",
		`variables.x`:                                                                                     "",
		`params.x == 'y'`:                                                                                 "",
		`authorizer.group('').resource('pods').check('get').allowed()`:                                    "",
		`request.operation ==`:                                                                            "",
		`request.operation == '` + strings.Repeat("x", 257) + `'`:                                         "",
		strings.Repeat("!(true && ", 20) + `request.operation == 'x'` + strings.Repeat(")", 20):           "",
		`request.operation == 'x'` + strings.Repeat(` || request.operation == 'y'`, 1000):                 "",
		`request.userInfo.groups.exists(g, ` + strings.Repeat(`g == 'x' || `, 40) + `g == 'y')`:           "",
		`request.userInfo.groups.exists(g, g in [` + strings.Repeat(`'x', `, 40) + `'y'])`:                "",
		`request.operation == 'x'` + strings.Repeat(` || 'a' in request.userInfo.groups`, 40):             "",
		`request.operation in [` + strings.Repeat(`'x', `, 40) + `'y'] || request.kind.version == 'v1'  `: `(request.operation in [` + strings.Repeat(`"x", `, 40) + `"y"] || request.kind.version == "v1")`,
	} {
		if got := strings.ReplaceAll(pushed(t, []string{expression}), "\n", " "); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

func TestPushedConditionsOfPolicies(t *testing.T) {
	const created, admin = `request.operation == "CREATE"`, `"admins" in request.userInfo.groups`
	for name, test := range map[string]struct {
		conditions [][]string
		want       string
	}{
		"of one policy":               {[][]string{{created, admin}}, "(" + created + ") && (" + admin + ")"},
		"of two":                      {[][]string{{created}, {admin}}, "(" + admin + ") || (" + created + ")"},
		"twice":                       {[][]string{{created}, {created}}, "(" + created + ")"},
		"one of a policy's may fail":  {[][]string{{created, "object.x == 'y'"}, {admin}}, "(" + admin + ") || (" + created + ")"},
		"all of a policy's may fail":  {[][]string{{created}, {"object.x == 'y'"}}, ""},
		"a policy without conditions": {[][]string{{created}, {}}, ""},
		"of many":                     {slices.Repeat([][]string{{admin}}, 40), "(" + admin + ")"},
		"too many":                    {[][]string{slices.Repeat([]string{admin}, 5), slices.Repeat([]string{admin}, 4)}, ""},
	} {
		if got := pushed(t, test.conditions...); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// An API server can evaluate the largest expressions for users in many groups.
func TestCost(t *testing.T) {
	groups := make([]string, 10_000)
	for i := range groups {
		groups[i] = fmt.Sprint(strings.Repeat("g", 200), i)
	}
	object := &corev1.Pod{}
	request := admission.NewAttributesRecord(object, nil, corev1.SchemeGroupVersion.WithKind("Pod"), "blue", "web", corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, nil, false,
		&user.DefaultInfo{Name: strings.Repeat("u", 256), Groups: groups})
	literal := strings.Repeat("g", 64)
	for name, expression := range map[string]string{
		"equality":    "request.userInfo.groups.exists(g, " + strings.Repeat("g == '"+literal+"' || ", 7) + "g == 'x')",
		"list":        "request.userInfo.groups.exists(g, g in [" + strings.Repeat("'"+literal+"', ", 6) + "'x'])",
		"prefix":      "request.userInfo.groups.exists(g, " + strings.Repeat("g.startsWith('"+literal[1:]+"x') || ", 7) + "g.endsWith('x'))",
		"membership":  strings.Repeat("'"+strings.Repeat("g", 200)+"' in request.userInfo.groups || ", 7) + "'x' in request.userInfo.groups",
		"expressions": strings.Repeat("request.userInfo.username.matches('^("+strings.Repeat("u*", 100)+")x$') || ", 15) + "false",
	} {
		if pushed(t, []string{expression}) == "" {
			t.Errorf("%s: the expression is not evaluated by API servers", name)
		}
		p := validating("p", rule("", "v1", "pods"))
		p.Spec.MatchConditions = []v1.MatchCondition{{Name: "c", Expression: expression}}
		hooks := policyWebhooks(t, bound(p))
		if calls := server().calls(t, []webhook.WebhookAccessor{webhook.NewValidatingWebhookAccessor("w", "c", &hooks[0])}, request); len(calls) > 0 {
			t.Errorf("%s: the webhook is called", name)
		}
	}
}

// A policy that fails whether its conditions are met or not must see all requests.
func TestConditionsOfFailingPolicies(t *testing.T) {
	for name, change := range map[string]func(*v1.ValidatingAdmissionPolicy){
		"": func(*v1.ValidatingAdmissionPolicy) {},
		"params": func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
		},
		"verdict":     func(p *v1.ValidatingAdmissionPolicy) { p.Spec.TypeChecking = new(v1.EnforcedTypeChecking) },
		"constraints": func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints = nil },
		"invalid selector": func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"-": ""}}
		},
	} {
		p := validating("p", rule("apps", "v1", "deployments"))
		p.Spec.MatchConditions = []v1.MatchCondition{{Name: "c", Expression: "request.operation == 'CREATE'"}}
		change(p)
		if got := pushedOf(t, p); (got == "") != (name != "") {
			t.Errorf("%s: API servers evaluate %q", name, got)
		}
	}
}

// etcd must be able to store a configuration with many policies.
func TestSize(t *testing.T) {
	var policies []any
	for i := range 200 {
		p := validating(fmt.Sprint("p", i), rule("apps", "v1", "deployments"))
		p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(i)}}
		p.Spec.MatchConditions = []v1.MatchCondition{{Name: "c", Expression: "request.operation in [" + strings.Repeat("'"+strings.Repeat("x", 200)+"', ", 19) + "'x']"}}
		policies = append(policies, p)
	}
	webhooks := policyWebhooks(t, bound(policies...))
	with := 0
	for _, w := range webhooks {
		if slices.ContainsFunc(w.MatchConditions, func(c admissionregistrationv1.MatchCondition) bool { return c.Name == "policies" }) {
			with++
		}
	}
	if size := len(show(webhooks)); len(webhooks) != 200 || with < 50 || size > 1<<20 {
		t.Errorf("%d webhooks, %d with conditions, have %d bytes", len(webhooks), with, size)
	}
}
