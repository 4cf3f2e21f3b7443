// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/interpreter"
	v1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/webhook"
)

var (
	jane    = &user.DefaultInfo{Name: "jane", Groups: []string{"developers"}}
	objects = admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	pods    = corev1.SchemeGroupVersion.WithResource("pods")
)

func pod(node string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// creation returns the attributes of a request that creates a Pod on node n.
func creation() admission.Attributes {
	return admission.NewAttributesRecord(pod("n"), nil, corev1.SchemeGroupVersion.WithKind("Pod"), "default", "web", pods, "", admission.Create, nil, false, jane)
}

// namespaces holds namespaces by name.
type namespaces map[string]*corev1.Namespace

// GetNamespace implements matching.NamespaceGetter.
func (n namespaces) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	if namespace, ok := n[name]; ok {
		return namespace, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
}

// breakglass allows the verb breakglass and counts the checks.
type breakglass struct{ checks int }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (b *breakglass) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	b.checks++
	if a.GetVerb() == "breakglass" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

// mapper knows no kind for resources of version v1beta2.
type mapper struct {
	runtime.EquivalentResourceRegistry
}

// KindFor implements runtime.EquivalentResourceMapper.
func (m mapper) KindFor(resource schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	if resource.Version == "v1beta2" {
		return schema.GroupVersionKind{}
	}
	return m.EquivalentResourceRegistry.KindFor(resource, subresource)
}

func rules(group, resource string) []v1.RuleWithOperations {
	return []v1.RuleWithOperations{{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

// conditional returns a webhook for all requests with the match conditions c0, c1, and so on.
func conditional(expressions ...string) v1.ValidatingWebhook {
	w := v1.ValidatingWebhook{Rules: rules("*", "*")}
	for i, e := range expressions {
		w.MatchConditions = append(w.MatchConditions, v1.MatchCondition{Name: "c" + string(rune('0'+i)), Expression: e})
	}
	return w
}

func set(webhooks ...v1.ValidatingWebhook) *webhook.Set {
	var compiled []*webhook.Webhook
	for _, w := range webhooks {
		compiled = append(compiled, webhook.CompileValidating(&w))
	}
	return webhook.NewSet(compiled)
}

// match decides whether the webhook at a position of the set is called. The decision is empty if
// the webhook is no candidate.
func match(r *webhook.Request, position int) (webhook.Applicability, error) {
	for _, c := range r.Candidates() {
		if c.Position == position {
			return r.Match(c)
		}
	}
	return webhook.Applicability{}, nil
}

const mayBreakGlass = "authorizer.group('admissionregistration.k8s.io').resource('validatingwebhookconfigurations').name('w').check('breakglass').allowed()"

// expensive is true and costs more than a quarter of the budget, but not a third.
const expensive = "[1,2,3,4,5,6].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a+b+c+d+e > 0)))))"

// Match conditions decide whether a webhook is called, and fail by its failurePolicy.
func TestMatchConditions(t *testing.T) {
	const failing = "object.spec.absent == 'n'"
	for name, test := range map[string]struct {
		conditions []string
		policy     v1.FailurePolicyType
		want       webhook.Applicability
		// err is part of the error of the match conditions, which rejects the request unless
		// the policy is Ignore.
		err string
	}{
		"true":                     {conditions: []string{"object.spec.nodeName == 'n'"}, want: webhook.Applicability{Matches: true}},
		"all true":                 {conditions: []string{"true", "oldObject == null", "request.userInfo.username == 'jane'"}, want: webhook.Applicability{Matches: true}},
		"false":                    {conditions: []string{"object.spec.nodeName == 'm'"}, want: webhook.Applicability{Excluded: true, Condition: "c0"}},
		"first false":              {conditions: []string{"true", "false", "false"}, want: webhook.Applicability{Excluded: true, Condition: "c1"}},
		"error":                    {conditions: []string{"true", failing}, want: webhook.Applicability{Excluded: true, Errors: 1}, err: "no such key: absent"},
		"error, Ignore":            {conditions: []string{"true", failing}, policy: v1.Ignore, want: webhook.Applicability{Excluded: true, Errors: 1}, err: "no such key: absent"},
		"false after error":        {conditions: []string{failing, "false"}, want: webhook.Applicability{Excluded: true, Condition: "c1", Errors: 1}},
		"does not compile":         {conditions: []string{"params.x"}, want: webhook.Applicability{Excluded: true, Errors: 1}, err: "undeclared reference to 'params'"},
		"does not compile, Ignore": {conditions: []string{"params.x"}, policy: v1.Ignore, want: webhook.Applicability{Excluded: true, Errors: 1}, err: "undeclared reference to 'params'"},
		"authorizer":               {conditions: []string{"!" + mayBreakGlass}, want: webhook.Applicability{Excluded: true, Condition: "c0"}},
		"namespaceObject is null":  {conditions: []string{"namespaceObject == null"}, want: webhook.Applicability{Matches: true}},
		"over budget":              {conditions: []string{"false", expensive, expensive, expensive, expensive}, want: webhook.Applicability{Excluded: true}, err: "running out of cost budget"},
	} {
		t.Run(name, func(t *testing.T) {
			w := conditional(test.conditions...)
			if test.policy != "" {
				w.FailurePolicy = &test.policy
			}
			request := set(w).NewRequest(t.Context(), creation(), objects, webhook.Config{Authorizer: &breakglass{}})
			got, err := match(request, 0)
			if (got.Err != nil) != (test.err != "") || got.Err != nil && !strings.Contains(got.Err.Error(), test.err) {
				t.Errorf("error of match conditions is %v, want %q", got.Err, test.err)
			}
			if rejects := test.err != "" && test.policy != v1.Ignore; rejects != (err != nil) || rejects && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error is %v, want a rejection: %t", err, rejects)
			}
			if got.Excluded && got.Elapsed <= 0 {
				t.Errorf("evaluation took %s", got.Elapsed)
			}
			if test.want.Matches {
				test.want.Target.Kind, test.want.Target.Resource = corev1.SchemeGroupVersion.WithKind("Pod"), pods
			}
			got.Err, got.Elapsed = nil, 0
			if got != test.want {
				t.Errorf("decision is %+v, want %+v", got, test.want)
			}
		})
	}
}

// Match conditions that the end of the request interrupts reject it, even if failurePolicy is
// Ignore.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx     context.Context
		rejects bool
	}{
		"interrupted":   {ctx, true},
		"other failure": {t.Context(), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := conditional("lists.range(5000).all(i, i >= 0)", "object.spec.absent")
			w.FailurePolicy = new(v1.Ignore)
			got, err := match(set(w).NewRequest(test.ctx, creation(), objects, webhook.Config{}), 0)
			if rejects := apierrors.IsForbidden(err); rejects != test.rejects || errors.Is(got.Err, interpreter.InterruptError{}) != test.rejects {
				t.Errorf("errors are %v and %v, want an interruption: %t", err, got.Err, test.rejects)
			}
		})
	}
}

// Rules and selectors decide before match conditions. Fields that are nil have their defaults.
func TestMatch(t *testing.T) {
	equivalent := mapper{runtime.NewEquivalentResourceRegistry()}
	deployment := appsv1.SchemeGroupVersion.WithKind("Deployment")
	for _, version := range []string{"v1", "v1beta1", "v1beta2"} {
		equivalent.RegisterKindFor(schema.GroupResource{Group: "apps", Resource: "deployments"}.WithVersion(version), "", deployment.GroupKind().WithVersion(version))
	}
	o := *objects.(*admission.RuntimeObjectInterfaces)
	o.EquivalentResourceMapper = equivalent
	a := admission.NewAttributesRecord(&appsv1.Deployment{}, nil, deployment, "blue", "web", appsv1.SchemeGroupVersion.WithResource("deployments"), "", admission.Create, nil, false, jane)
	config := webhook.Config{Namespaces: namespaces{"blue": {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "blue"}}}}}

	version := func(version string) []v1.RuleWithOperations {
		r := rules("apps", "deployments")
		r[0].APIVersions = []string{version}
		return r
	}
	team := func(team string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}
	}
	unknown := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Resembles"}}}
	for name, test := range map[string]struct {
		webhook v1.MutatingWebhook
		in      string
		// want is the version of the target. Empty if the webhook is not called.
		want string
		// code is the status code of the error.
		code int32
	}{
		"no rules":                    {webhook: v1.MutatingWebhook{}},
		"rule":                        {webhook: v1.MutatingWebhook{Rules: version("v1")}, want: "v1"},
		"rule for another resource":   {webhook: v1.MutatingWebhook{Rules: rules("apps", "replicasets")}},
		"equivalent resource":         {webhook: v1.MutatingWebhook{Rules: version("v1beta1"), MatchPolicy: new(v1.Equivalent)}, want: "v1beta1"},
		"equivalent by default":       {webhook: v1.MutatingWebhook{Rules: version("v1beta1")}, want: "v1beta1"},
		"exact":                       {webhook: v1.MutatingWebhook{Rules: version("v1beta1"), MatchPolicy: new(v1.Exact)}},
		"equivalent of unknown kind":  {webhook: v1.MutatingWebhook{Rules: version("v1beta2")}, code: 500},
		"namespace":                   {webhook: v1.MutatingWebhook{Rules: version("v1"), NamespaceSelector: team("blue")}, want: "v1"},
		"another namespace":           {webhook: v1.MutatingWebhook{Rules: version("v1"), NamespaceSelector: team("red")}},
		"namespace that is not found": {webhook: v1.MutatingWebhook{Rules: version("v1"), NamespaceSelector: team("blue")}, in: "red", code: 404},
		"invalid selector":            {webhook: v1.MutatingWebhook{Rules: version("v1"), NamespaceSelector: unknown}, code: 500},
		"object":                      {webhook: v1.MutatingWebhook{Rules: version("v1"), ObjectSelector: team("blue")}},
	} {
		t.Run(name, func(t *testing.T) {
			a := a
			if test.in != "" {
				a = admission.NewAttributesRecord(a.GetObject(), nil, deployment, test.in, "web", a.GetResource(), "", admission.Create, nil, false, jane)
			}
			webhooks := webhook.NewSet([]*webhook.Webhook{webhook.CompileMutating(&test.webhook)})
			got, err := match(webhooks.NewRequest(t.Context(), a, &o, config), 0)
			var status *apierrors.StatusError
			if errors.As(err, &status); (err != nil) != (test.code != 0) || err != nil && status.ErrStatus.Code != test.code {
				t.Errorf("error is %v, want code %d", err, test.code)
			}
			if got.Target.Resource.Version != test.want || got.Matches != (test.want != "") || got.Excluded {
				t.Errorf("decision is %+v, want version %q", got, test.want)
			}
		})
	}
}

// The same expression of several webhooks is evaluated once, for as long as the object stays the
// same.
func TestEvaluationIsShared(t *testing.T) {
	authz := &breakglass{}
	const (
		unlessBroken = "object.spec.nodeName == 'n' && !" + mayBreakGlass
		onNode       = "object.spec.nodeName == 'n'"
	)
	webhooks := set(conditional(unlessBroken), conditional(onNode), conditional(unlessBroken), conditional("true", unlessBroken), conditional(onNode))
	m := webhooks.NewMutatingRequest(t.Context(), creation(), objects, webhook.Config{Authorizer: authz}, "Plugin")
	defer m.End()
	matches := func(position int) bool {
		t.Helper()
		decision, err := match(&m.Request, position)
		if err != nil {
			t.Fatal(err)
		}
		return decision.Matches
	}
	for _, position := range []int{0, 2, 3} {
		if matches(position) {
			t.Error("webhook matches although jane may break glass")
		}
	}
	if authz.checks != 1 {
		t.Errorf("authorizer was asked %d times, want once", authz.checks)
	}

	if !matches(1) || !matches(4) {
		t.Error("webhook does not match")
	}
	if changed, err := m.Patch(corev1.SchemeGroupVersion.WithKind("Pod"), patch(t, `[{"op": "replace", "path": "/spec/nodeName", "value": "m"}]`)); err != nil || !changed {
		t.Fatalf("patch changes the object: %t, %v", changed, err)
	}
	if matches(1) || matches(4) {
		t.Error("webhook matches an object that was changed")
	}
}

// Equal expressions of several webhooks are charged to the budget of each.
func TestBudgetIsPerWebhook(t *testing.T) {
	webhooks := set(conditional(expensive, expensive, expensive), conditional(expensive, expensive, expensive), conditional(expensive, expensive, expensive, expensive))
	request := webhooks.NewRequest(t.Context(), creation(), objects, webhook.Config{})
	for i, over := range []bool{false, false, true} {
		if _, err := match(request, i); (err != nil) != over {
			t.Errorf("error of webhook %d is %v, want it to be over budget: %t", i, err, over)
		}
	}
}
