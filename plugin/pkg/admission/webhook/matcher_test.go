// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

var jane = &user.DefaultInfo{Name: "jane", Groups: []string{"developers"}}

// creation is a request that creates a pod on a node.
func creation(node string) *admission.VersionedAttributes {
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	pod := pod(node)
	a := &admission.VersionedAttributes{
		Attributes:    admission.NewAttributesRecord(pod, nil, kind, "default", "web", corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, nil, false, jane),
		VersionedKind: kind,
	}
	a.VersionedObject.Set(pod)
	return a
}

func pod(node string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// judge answers whether jane may do something, and counts how often it is asked.
type judge struct{ asked int }

func (j *judge) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	j.asked++
	if a.GetVerb() == "breakglass" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

// conditions names conditions c0, c1, and so on.
func conditions(expressions ...string) []v1.MatchCondition {
	var result []v1.MatchCondition
	for i, e := range expressions {
		result = append(result, v1.MatchCondition{Name: "c" + string(rune('0'+i)), Expression: e})
	}
	return result
}

const mayBreakGlass = "authorizer.group('admissionregistration.k8s.io').resource('validatingwebhookconfigurations').name('w').check('breakglass').allowed()"

// dear is true and costs more than a quarter of the budget, but not a third.
const dear = "[1,2,3,4,5,6].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a+b+c+d+e > 0)))))"

func TestMatch(t *testing.T) {
	const failing = "object.spec.absent == 'n'"
	for name, test := range map[string]struct {
		conditions []v1.MatchCondition
		policy     v1.FailurePolicyType
		want       matchconditions.MatchResult
		// fails is what the error has to say.
		fails string
	}{
		"true":                     {conditions: conditions("object.spec.nodeName == 'n'"), want: matchconditions.MatchResult{Matches: true}},
		"all true":                 {conditions: conditions("true", "oldObject == null", "request.userInfo.username == 'jane'"), want: matchconditions.MatchResult{Matches: true}},
		"false":                    {conditions: conditions("object.spec.nodeName == 'm'"), want: matchconditions.MatchResult{FailedConditionName: "c0"}},
		"first false":              {conditions: conditions("true", "false", "false"), want: matchconditions.MatchResult{FailedConditionName: "c1"}},
		"error":                    {conditions: conditions("true", failing), fails: "no such key: absent"},
		"error, Ignore":            {conditions: conditions("true", failing), policy: v1.Ignore},
		"false after error":        {conditions: conditions(failing, "false"), want: matchconditions.MatchResult{FailedConditionName: "c1"}},
		"does not compile":         {conditions: conditions("params.x"), fails: "undeclared reference to 'params'"},
		"does not compile, Ignore": {conditions: conditions("params.x"), policy: v1.Ignore},
		"authorizer":               {conditions: conditions("!" + mayBreakGlass), want: matchconditions.MatchResult{FailedConditionName: "c0"}},
		"namespaceObject is null":  {conditions: conditions("namespaceObject == null"), want: matchconditions.MatchResult{Matches: true}},
		"over budget":              {conditions: conditions("false", dear, dear, dear, dear), fails: "running out of cost budget"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := test.policy
			if policy == "" {
				policy = v1.Fail
			}
			of := upstream.NewValidatingWebhookAccessor("w", "configuration", &v1.ValidatingWebhook{Name: "w", MatchConditions: test.conditions, FailurePolicy: &policy})
			source := webhook.Validating.NewSource(&listed{[]upstream.WebhookAccessor{of}}, func() bool { return true })
			matcher := source.Webhooks()[0].GetCompiledMatcher(nil)
			for _, ctx := range []context.Context{t.Context(), webhook.WithEvaluation(t.Context())} {
				got := matcher.Match(ctx, creation("n"), nil, &judge{})
				if test.fails == "" && got != test.want || test.fails != "" && (got.Matches || got.Error == nil || !strings.Contains(got.Error.Error(), test.fails)) {
					t.Errorf("result is %+v, want %+v %s", got, test.want, test.fails)
				}
			}
		})
	}
}

// The same expression of several webhooks is evaluated once, for as long as the object stays the same.
func TestEvaluationIsShared(t *testing.T) {
	var list listed
	for _, name := range []string{"a", "b", "c"} {
		list.webhooks = append(list.webhooks, hook(name, conditions("object.spec.nodeName == 'n' && !"+mayBreakGlass)...))
	}
	webhooks := webhook.Validating.NewSource(&list, func() bool { return true }).Webhooks()
	judge, a := &judge{}, creation("n")
	ctx := webhook.WithEvaluation(t.Context())
	match := func(w upstream.WebhookAccessor) bool {
		result := w.GetCompiledMatcher(nil).Match(ctx, a, nil, judge)
		if result.Error != nil {
			t.Fatal(result.Error)
		}
		return result.Matches
	}
	for _, w := range webhooks {
		if match(w) {
			t.Error("webhook matches although jane may break glass")
		}
	}
	if judge.asked != 1 {
		t.Errorf("authorizer was asked %d times, want once", judge.asked)
	}

	list.webhooks = append(list.webhooks, hook("d", conditions("object.spec.nodeName == 'n'")...))
	d := webhook.Validating.NewSource(&list, func() bool { return true }).Webhooks()[3]
	if !match(d) {
		t.Error("webhook does not match")
	}
	a.UpdateObject(pod("m"))
	if match(d) {
		t.Error("webhook matches an object that was changed")
	}
}

// The equal expressions of several webhooks cost each its own budget.
func TestBudgetIsPerWebhook(t *testing.T) {
	three, four := conditions(dear, dear, dear), conditions(dear, dear, dear, dear)
	list := &listed{[]upstream.WebhookAccessor{hook("a", three...), hook("b", three...), hook("c", four...)}}
	ctx, a := webhook.WithEvaluation(t.Context()), creation("n")
	var over []string
	for _, w := range webhook.Validating.NewSource(list, func() bool { return true }).Webhooks() {
		if w.GetCompiledMatcher(nil).Match(ctx, a, nil, &judge{}).Error != nil {
			over = append(over, w.GetName())
		}
	}
	if len(over) != 1 || over[0] != "c" {
		t.Errorf("out of budget are %v, want the one with four conditions", over)
	}
}

// Exclusions are counted and, at V(5), logged with what excluded the request.
func TestExclusion(t *testing.T) {
	w := webhook.Validating.NewSource(&listed{[]upstream.WebhookAccessor{hook("exclusion.example.com", conditions("true", "false")...)}}, func() bool { return true }).Webhooks()[0]
	for _, verbosity := range []int{4, 5} {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(verbosity), ktesting.BufferLogs(true)))
		w.GetCompiledMatcher(nil).Match(klog.NewContext(t.Context(), logger), creation("n"), nil, &judge{})
		text := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		if logged := strings.Contains(text, "exclusion.example.com") && strings.Contains(text, "c1"); logged != (verbosity == 5) {
			t.Errorf("log at %d is %q", verbosity, text)
		}
	}
	counted, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, "webhook_admission_match_condition_exclusions_total",
		map[string]string{"name": "exclusion.example.com", "type": "validate"}, "operation")
	if err != nil || counted["CREATE"] != 2 {
		t.Errorf("counted %v, %v, want 2 for CREATE", counted, err)
	}
}
