// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/matching"
	"celador.io/admission/validation"
	"celador.io/polyfill/pkg/routing"
)

// The API server calls, for each request that a policy matches, one webhook at whose path the
// policy decides, and sends the object in the version in which the policy would see it in the API
// server. It calls at most one for any policy, and this holds for a configuration that is older
// than what the replica knows, too. What matches the request in the API server matches the review.
func TestRequestsReachPolicies(t *testing.T) {
	for seed := range uint64(30) {
		checkRoutes(t, seed)
	}
}

func FuzzRequestsReachPolicies(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(checkRoutes)
}

func checkRoutes(t *testing.T, seed uint64) {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	server := server()
	before := g.policies(routing.Inventory{})
	states := []routing.Inventory{before, g.policies(before)}
	tables := map[routing.Kind]*routing.Table{routing.Validating: routing.NewTable(), routing.Mutating: routing.NewTable()}
	configurations := make([][]webhook.WebhookAccessor, len(states))
	for i, policies := range states {
		validating, mutating, members := routing.Webhooks(policies, options)
		for kind, table := range tables {
			table.Set(members[kind])
		}
		for j := range validating {
			checkRules(t, validating[j].Rules)
			configurations[i] = append(configurations[i], webhook.NewValidatingWebhookAccessor(validating[j].Name, "c", &validating[j]))
		}
		for j := range mutating {
			checkRules(t, mutating[j].Rules)
			configurations[i] = append(configurations[i], webhook.NewMutatingWebhookAccessor(mutating[j].Name, "c", &mutating[j]))
		}
	}
	for range 100 {
		request := g.request()
		for i, hooks := range configurations {
			calls := server.calls(t, hooks, request)
			if excluded(request) {
				checkExcluded(t, seed, request, calls)
				continue
			}
			for _, c := range calls {
				server.checkMatching(t, seed, request, c, g.constraints()) // of a binding
				for _, policies := range states {
					for _, p := range policies.Validating {
						server.checkMatching(t, seed, request, c, p.Spec.MatchConstraints)
					}
				}
			}
			for _, p := range states[i].Validating {
				server.checkPolicy(t, seed, request, calls.to(t, tables, routing.Validating, p.Name), p.Spec.MatchConstraints, p.Spec.MatchConditions)
			}
			if request.GetOperation() == admission.Delete {
				continue
			}
			for _, p := range states[i].Mutating {
				server.checkPolicy(t, seed, request, calls.to(t, tables, routing.Mutating, p.Name), p.Spec.MatchConstraints, p.Spec.MatchConditions)
			}
		}
	}
}

// checkRules fails the test if an API server would reject the rules of a webhook, which it
// validates as those of policies.
func checkRules(t *testing.T, rules []admissionregistrationv1.RuleWithOperations) {
	p := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.ValidatingAdmissionPolicySpec{
		FailurePolicy: new(v1.Fail), Validations: []v1.Validation{{Expression: "true"}},
		MatchConstraints: &v1.MatchResources{MatchPolicy: new(v1.Exact), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}},
	}}
	for _, r := range rules {
		rule := v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{Rule: v1.Rule{
			APIGroups: r.APIGroups, APIVersions: r.APIVersions, Resources: r.Resources, Scope: (*v1.ScopeType)(r.Scope),
		}}}
		for _, o := range r.Operations {
			rule.Operations = append(rule.Operations, v1.OperationType(o))
		}
		p.Spec.MatchConstraints.ResourceRules = append(p.Spec.MatchConstraints.ResourceRules, rule)
	}
	if errs := validation.ValidateValidatingAdmissionPolicy(p); len(errs) > 0 {
		t.Errorf("invalid rules %v: %v", rules, errs)
	}
}

// apiServer decides as an API server which webhooks it calls, and which policies match.
type apiServer struct {
	*generic.Webhook
	objects    admission.ObjectInterfaces
	namespaces namespaces
	compiler   cel.ConditionCompiler
}

// namespaces implements matching.NamespaceGetter.
type namespaces map[string]*corev1.Namespace

func (n namespaces) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	return n[name], nil
}

// server returns the server of all tests, because its CEL environments take long to make.
var server = sync.OnceValue(func() *apiServer {
	s := &apiServer{namespaces: namespaces{}, compiler: cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))}
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	for name, color := range map[string]string{"blue": "blue", "red": "red", options.Namespace: "", "kube-system": ""} {
		s.namespaces[name] = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": color}}}
		if err := factory.Core().V1().Namespaces().Informer().GetStore().Add(s.namespaces[name]); err != nil {
			panic(err)
		}
	}
	var err error
	s.Webhook, err = generic.NewWebhook(admission.NewHandler(), io.Reader(nil),
		func(informers.SharedInformerFactory, sets.Set[schema.GroupResource]) generic.Source { return nil },
		func(*webhookutil.ClientManager) generic.Dispatcher { return nil })
	if err != nil {
		panic(err)
	}
	s.SetExternalKubeClientSet(client)
	s.SetExternalKubeInformerFactory(factory)
	mapper := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string {
		if r.Resource == "events" {
			return "events"
		}
		return ""
	})
	for _, r := range served {
		mapper.RegisterKindFor(r.resource, "", r.kind)
		mapper.RegisterKindFor(r.resource, "scale", schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
	}
	s.objects = &admission.RuntimeObjectInterfaces{EquivalentResourceMapper: mapper}
	return s
})

// call is a request as an API server sends it to a path.
type call struct {
	path string
	matching.Target
}

type calls []call

// to returns the calls with which a policy decides.
func (all calls) to(t *testing.T, tables map[routing.Kind]*routing.Table, kind routing.Kind, policy string) (asked calls) {
	for _, c := range all {
		if !strings.HasPrefix(c.path, "/"+string(kind)+"/") {
			continue
		}
		selection, err := tables[kind].Selection(t.Context(), c.path)
		if err != nil {
			t.Fatal(err)
		}
		if selection.Has(policy) {
			asked = append(asked, c)
		}
	}
	return asked
}

// reviewed is the request of a call. It implements matching.Converted.
type reviewed struct {
	admission.Attributes
	call call
}

func (r reviewed) GetKind() schema.GroupVersionKind         { return r.call.Kind }
func (r reviewed) GetResource() schema.GroupVersionResource { return r.call.Resource }
func (r reviewed) Original() admission.Attributes           { return r.Attributes }

// attributes implements generic.VersionedAttributeAccessor. It does not convert objects.
type attributes struct{ admission.Attributes }

func (a attributes) VersionedAttribute(kind schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	return &admission.VersionedAttributes{
		Attributes: a, VersionedKind: kind, VersionedObject: admission.NewLazyObject(a.GetObject()), VersionedOldObject: admission.NewLazyObject(a.GetOldObject()),
	}, nil
}

// calls returns the calls of webhooks for a request.
func (s *apiServer) calls(t *testing.T, hooks []webhook.WebhookAccessor, request admission.Attributes) (calls calls) {
	for _, h := range hooks {
		invocation, err := s.ShouldCallHook(t.Context(), h, request, s.objects, attributes{request})
		if err != nil {
			t.Errorf("webhook %s fails: %v", h.GetName(), err)
		}
		if invocation == nil {
			continue
		}
		calls = append(calls, call{*h.GetClientConfig().Service.Path, matching.Target{Resource: invocation.Resource, Kind: invocation.Kind}})
	}
	return calls
}

// match matches the request of an API server, or of a call.
func (s *apiServer) match(t *testing.T, request admission.Attributes, criteria *matching.Criteria) (matching.Target, bool, error) {
	return criteria.Match(matching.NewRequest(t.Context(), request, s.objects, s.namespaces))
}

// checkPolicy fails the test unless the request reaches a policy that would decide about it in the
// API server. asked are the calls with which the policy decides.
func (s *apiServer) checkPolicy(t *testing.T, seed uint64, request admission.Attributes, asked calls, constraints *v1.MatchResources, conditions []v1.MatchCondition) {
	criteria := matching.Compile(constraints)
	target, matches, err := s.match(t, request, criteria)
	decides := err != nil || matches && s.meetsConditions(t, request, target, conditions)
	if len(asked) > 1 || decides && len(asked) == 0 {
		t.Fatalf("seed %d: the policy decides %t, with the calls %v\nconstraints %s\nrequest %v %s %v %q", seed, decides, asked, show(constraints),
			request.GetOperation(), request.GetSubresource(), request.GetResource(), request.GetName())
	}
	if !decides || err != nil { // the error of an invalid selector has no target
		return
	}
	got, _, _ := s.match(t, reviewed{request, asked[0]}, criteria)
	if asked[0].Target != target || got != target {
		t.Fatalf("seed %d: sent as %v, read as %v, want %v\nconstraints %s\nrequest %v %v %q", seed, asked[0], got, target, show(constraints), request.GetOperation(), request.GetResource(), request.GetName())
	}
}

// checkMatching fails the test unless a call matches as the request does in the API server.
func (s *apiServer) checkMatching(t *testing.T, seed uint64, request admission.Attributes, c call, constraints *v1.MatchResources) {
	criteria := matching.Compile(constraints)
	_, want, wantErr := s.match(t, request, criteria)
	target, got, err := s.match(t, reviewed{request, c}, criteria)
	if got != want || (err == nil) != (wantErr == nil) {
		t.Fatalf("seed %d: the call %v matches: %t %v, want %t %v\nconstraints %s\nrequest %v %v %q", seed, c, got, err, want, wantErr, show(constraints),
			request.GetOperation(), request.GetResource(), request.GetName())
	}
	candidates := matching.NewIndex(1, func(int) *matching.Criteria { return criteria }).Candidates(matching.NewRequest(t.Context(), reviewed{request, c}, s.objects, s.namespaces))
	if len(candidates) == 0 && (got || err != nil) || len(candidates) > 0 && candidates[0].Certain && (!got || target != c.Target) {
		t.Fatalf("seed %d: the call %v matches as %v: %t %v, in the index %v\nconstraints %s", seed, c, target, got, err, candidates, show(constraints))
	}
}

func show(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// meetsConditions reports whether a policy decides about a request: its match conditions are met,
// or fail.
func (s *apiServer) meetsConditions(t *testing.T, request admission.Attributes, target matching.Target, conditions []v1.MatchCondition) bool {
	var expressions []cel.ExpressionAccessor
	for _, c := range conditions {
		expressions = append(expressions, &matchconditions.MatchCondition{Name: c.Name, Expression: c.Expression})
	}
	evaluator := s.compiler.CompileCondition(expressions, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
	versioned, _ := attributes{request}.VersionedAttribute(target.Kind)
	result := matchconditions.NewMatcher(evaluator, new(admissionregistrationv1.Fail), "policy", "validate", "p").Match(t.Context(), versioned, nil, nil)
	return result.Matches || result.Error != nil
}

// excluded reports whether no policy of the polyfill decides about a request.
func excluded(request admission.Attributes) bool {
	return request.GetNamespace() == options.Namespace || request.GetUserInfo().GetName() == options.User ||
		slices.Contains([]string{"policy.celador.io", "authorization.k8s.io"}, request.GetResource().Group) ||
		request.GetResource().Resource == "leases" && request.GetNamespace() == "kube-system"
}

// checkExcluded fails the test if an excluded request is sent, unless it is a write of a policy, to
// the webhook for policies.
func checkExcluded(t *testing.T, seed uint64, request admission.Attributes, calls calls) {
	var want []string
	if request.GetResource().Group == "policy.celador.io" && request.GetOperation() != admission.Delete && request.GetSubresource() == "" {
		want = []string{routing.PoliciesPath}
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("seed %d: a request for %v in namespace %q of %q is sent to %q, want %q", seed, request.GetResource(), request.GetNamespace(), request.GetUserInfo().GetName(), got, want)
	}
}

var options = routing.Options{Namespace: "celador", Service: "celador-webhook", Port: 443, CABundle: []byte("CA"), TimeoutSeconds: 10, User: "system:serviceaccount:celador:celador-webhook"}

type servedResource struct {
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
}

func serve(group, version, resource, kind string) servedResource {
	gv := schema.GroupVersion{Group: group, Version: version}
	return servedResource{gv.WithResource(resource), gv.WithKind(kind)}
}

var served = []servedResource{
	serve("apps", "v1", "deployments", "Deployment"), serve("apps", "v1beta1", "deployments", "Deployment"), serve("apps", "v2", "deployments", "Deployment"),
	serve("autoscaling", "v1", "scalers", "Scaler"), serve("autoscaling", "v2", "scalers", "Scaler"),
	serve("", "v1", "events", "Event"), serve("events.k8s.io", "v1", "events", "Event"),
	serve("", "v1", "pods", "Pod"), serve("", "v1", "nodes", "Node"), serve("", "v1", "namespaces", "Namespace"),
	serve("policy.celador.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy"), serve("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview"),
	serve("coordination.k8s.io", "v1", "leases", "Lease"),
}

// generator generates policies and requests of few values, so that they often match.
type generator struct{ *rand.Rand }

func pick[T any](g generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// policies returns policies and their bindings. Some of the policies are those of before.
func (g generator) policies(before routing.Inventory) routing.Inventory {
	var policies []any
	for i := range 1 + g.IntN(8) {
		v, m := validating(fmt.Sprint("p", i)), mutating(fmt.Sprint("p", i))
		v.Spec.FailurePolicy, v.Spec.MatchConstraints, v.Spec.MatchConditions = new(v1.Fail), g.constraints(), g.conditions()
		m.Spec.FailurePolicy, m.Spec.MatchConstraints, m.Spec.MatchConditions = new(v1.Fail), g.constraints(), g.conditions()
		m.Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
		if i < len(before.Validating) && g.IntN(2) == 0 {
			v, m = before.Validating[i], before.Mutating[i]
		}
		policies = append(policies, v, m)
	}
	return bound(policies...)
}

func (g generator) constraints() *v1.MatchResources {
	if g.IntN(20) == 0 {
		return &v1.MatchResources{}
	}
	everything := &metav1.LabelSelector{}
	selector := func() *metav1.LabelSelector {
		return pick(g, nil, everything, everything, everything, everything,
			&metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "color", Operator: "NotIn", Values: []string{"red"}}}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "color", Operator: "Invalid"}}})
	}
	return &v1.MatchResources{
		NamespaceSelector: selector(), ObjectSelector: selector(), MatchPolicy: pick(g, nil, new(v1.Exact), new(v1.Equivalent), new(v1.Equivalent)),
		ResourceRules: g.rules(1 + g.IntN(3)), ExcludeResourceRules: g.rules(g.IntN(8) / 7),
	}
}

func (g generator) rules(n int) []v1.NamedRuleWithOperations {
	rules := make([]v1.NamedRuleWithOperations, n)
	for i := range rules {
		rules[i] = v1.NamedRuleWithOperations{
			ResourceNames: pick(g, nil, nil, []string{"web"}, []string{"api", "blue"}, []string{"web", "api"}),
			RuleWithOperations: v1.RuleWithOperations{
				Operations: pick(g, []v1.OperationType{"*"}, []v1.OperationType{v1.Create, v1.Update}, []v1.OperationType{v1.Update}, []v1.OperationType{v1.Delete, "Other"}, []v1.OperationType{v1.Connect, "*"}, nil),
				Rule: v1.Rule{
					APIGroups:   pick(g, []string{"*"}, []string{""}, []string{"apps"}, []string{"events.k8s.io", "autoscaling"}, []string{"apps", ""}, []string{"", "*"}),
					APIVersions: pick(g, []string{"*"}, []string{"v1"}, []string{"v1"}, []string{"v2"}, []string{"v1beta1", "v2"}, []string{"v2", "v1beta1", "v2"}, []string{"v1", ""}),
					Resources: pick(g, []string{"*"}, []string{"*/*"}, []string{"*", "pods", "deployments/*", "deployments/scale"}, []string{"deployments", "events"}, []string{"deployments/*", "scalers"}, []string{"*/scale", "pods", "scalers"},
						[]string{"namespaces", "deployments"}, []string{"nodes", "pods/exec", ""}, []string{"deployments/scale/now", "/"}),
					Scope: pick(g, nil, nil, new(v1.AllScopes), new(v1.NamespacedScope), new(v1.ClusterScope), new(v1.ScopeType("Galactic"))),
				},
			},
		}
	}
	return rules
}

func (g generator) conditions() []v1.MatchCondition {
	var conditions []v1.MatchCondition
	for i := range g.IntN(3) {
		conditions = append(conditions, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: pick(g,
			"request.operation == 'CREATE'", "request.kind.version != 'v1'", "request.resource.version == 'v1'", "request.userInfo.username == 'alice'",
			"'admins' in request.userInfo.groups", "request.userInfo.groups.exists(g, g.startsWith('adm'))", "!request.userInfo.groups.all(g, g == 'users')",
			"object.metadata.name == 'web'", "authorizer.group('').resource('pods').check('get').allowed()", "request.namespace == 'blue' // 'red'",
			"request.userInfo.username.matches('^a.*e$') ? request.operation in ['CREATE', 'DELETE'] : request.kind.kind.contains('o')")})
	}
	return conditions
}

func (g generator) request() admission.Attributes {
	r := pick(g, served...)
	name := pick(g, "web", "api", "other", "")
	namespace := pick(g, "blue", "red", options.Namespace)
	switch r.kind.Kind {
	case "Node", "ValidatingAdmissionPolicy", "SubjectAccessReview":
		namespace = ""
	case "Lease":
		namespace = pick(g, "blue", "kube-system")
	case "Namespace":
		name = namespace
	}
	object := func() runtime.Object {
		return pick[runtime.Object](g, nil, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"color": pick(g, "blue", "red")}}})
	}
	var current, old runtime.Object
	operation := pick(g, admission.Create, admission.Update, admission.Delete)
	switch operation {
	case admission.Create:
		current = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": pick(g, "blue", "red")}}}
	case admission.Delete:
		old = object()
	default:
		current, old = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, object()
	}
	u := &user.DefaultInfo{Name: pick(g, "alice", "bob", options.User, ""), Groups: pick(g, nil, []string{"admins"}, []string{"users"}, []string{"users", "admins"})}
	return admission.NewAttributesRecord(current, old, r.kind, namespace, name, r.resource, pick(g, "", "", "scale"), operation, nil, false, u)
}
