// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/polyfill/pkg/policyapi"
)

// PoliciesPath is the URL path of the webhook for writes of the polyfill's own kinds.
const PoliciesPath = "/policies"

// Options are what all webhooks of a configuration have in common.
type Options struct {
	// Namespace and Service name the service that API servers call, at Port.
	Namespace, Service string
	Port               int32
	// CABundle holds the PEM certificates with which API servers verify the service.
	CABundle []byte
	// TimeoutSeconds is how long an API server waits for an answer, from 1 to 30.
	TimeoutSeconds int32
	// User is the name of the polyfill's own user, whose requests no policy decides about.
	User string
}

// Inventory holds policies and bindings. Webhooks reads them and changes none.
type Inventory struct {
	Validating         []*v1.ValidatingAdmissionPolicy
	ValidatingBindings []*v1.ValidatingAdmissionPolicyBinding
	Mutating           []*v1.MutatingAdmissionPolicy
	MutatingBindings   []*v1.MutatingAdmissionPolicyBinding
}

// Webhooks returns the webhooks of the routes of all policies that have a binding, or need none,
// with no field left to the defaults of the API server. The same policies in another order have
// equal webhooks. The first validating webhook is for writes of the polyfill's own kinds. members
// holds the policies of the other webhooks.
func Webhooks(objects Inventory, o Options) (validating []admissionregistrationv1.ValidatingWebhook, mutating []admissionregistrationv1.MutatingWebhook, members map[Kind]Members) {
	members = map[Kind]Members{Validating: {}, Mutating: {}}
	validating = append(validating, policiesWebhook(o))
	for _, w := range webhooks(validatingMembers(objects), o, members[Validating]) {
		validating = append(validating, admissionregistrationv1.ValidatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		})
	}
	return validating, webhooks(mutatingMembers(objects), o, members[Mutating]), members
}

func validatingMembers(objects Inventory) []*member {
	bound := map[string]bool{}
	for _, b := range objects.ValidatingBindings {
		bound[b.Spec.PolicyName] = true
	}
	var members []*member
	for _, policy := range objects.Validating {
		if bound[policy.Name] || policyspec.IsSingleton(policy.Spec.PolicyType) {
			members = append(members, validatingMember(policy))
		}
	}
	return members
}

func mutatingMembers(objects Inventory) []*member {
	bound := map[string]bool{}
	for _, b := range objects.MutatingBindings {
		bound[b.Spec.PolicyName] = true
	}
	var members []*member
	for _, policy := range objects.Mutating {
		if bound[policy.Name] || policyspec.IsSingleton(policy.Spec.PolicyType) {
			members = append(members, mutatingMember(policy))
		}
	}
	return members
}

// webhooks returns the webhooks of the routes of the given policies, the members, and adds the path
// of each route with its policies to registered. The routes are sorted by the name of their first
// policy: plugins apply policies in the order of their names, so this keeps the order across
// webhooks as far as possible. The result also serves for validating policies, because their
// webhooks have the same fields, except for reinvocationPolicy.
func webhooks(members []*member, o Options, registered Members) []admissionregistrationv1.MutatingWebhook {
	slices.SortFunc(members, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	var order []Route
	routes := map[Route][]*member{}
	for _, m := range members {
		r := m.route()
		if routes[r] == nil {
			order = append(order, r)
		}
		routes[r] = append(routes[r], m)
	}
	var result []admissionregistrationv1.MutatingWebhook
	available := maxAllPushed
	for _, r := range order {
		pushed := pushDown(routes[r])
		if available -= len(pushed); available < 0 {
			pushed = ""
		}
		var names []string
		for _, m := range routes[r] {
			names = append(names, m.name)
		}
		path := r.Path(names...)
		registered[path] = names
		result = append(result, routeWebhooks(r, path, routes[r], pushed, o)...)
	}
	return result
}

// routeWebhooks returns the webhooks of one route. A request is sent to at most one of them.
func routeWebhooks(r Route, path string, members []*member, pushed string, o Options) []admissionregistrationv1.MutatingWebhook {
	first := members[0]
	conditions := exclusions(o)
	if pushed != "" {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: "policies", Expression: pushed})
	}
	webhook := func(name string, rules []admissionregistrationv1.RuleWithOperations, own ...admissionregistrationv1.MatchCondition) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name:                    name + "." + policyapi.GroupVersion.Group,
			ClientConfig:            clientConfig(path, o),
			Rules:                   rules,
			FailurePolicy:           new(admissionregistrationv1.FailurePolicyType(first.key.FailurePolicy)),
			MatchPolicy:             new(admissionregistrationv1.MatchPolicyType(first.key.MatchPolicy)),
			NamespaceSelector:       first.namespaceSelector,
			ObjectSelector:          first.objectSelector,
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          &o.TimeoutSeconds,
			AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy:      new(admissionregistrationv1.ReinvocationPolicyType(first.key.ReinvocationPolicy)),
			MatchConditions:         slices.Concat(conditions, own),
		}
	}
	if len(first.key.Rules) == 0 {
		var rules []v1.NamedRuleWithOperations
		for _, m := range members {
			rules = append(rules, m.rules...)
		}
		if len(rules) == 0 {
			return nil
		}
		return []admissionregistrationv1.MutatingWebhook{webhook(r.Name, union(rules))}
	}
	// All policies of the route have the same rules, and the first rule that matches determines the
	// version of the object. Rules of webhooks have no resourceNames. So there is a webhook for
	// each set of names that the same rules list, and one for all other names.
	var result []admissionregistrationv1.MutatingWebhook
	for i, names := range partition(first.rules) {
		rules := slices.DeleteFunc(slices.Clone(first.rules), func(r v1.NamedRuleWithOperations) bool {
			return len(r.ResourceNames) > 0 && (i == 0 || !slices.Contains(r.ResourceNames, names[0]))
		})
		if len(rules) == 0 {
			continue
		}
		name, condition := r.Name, admissionregistrationv1.MatchCondition{Name: "names", Expression: "has(request.name) && request.name in " + list(names)}
		if i > 0 {
			name += "-" + strconv.Itoa(i)
		} else {
			condition.Expression = "!(" + condition.Expression + ")"
		}
		if len(names) == 0 {
			result = append(result, webhook(name, webhookRules(rules)))
		} else {
			result = append(result, webhook(name, webhookRules(rules), condition))
		}
	}
	return result
}

// partition returns all names in the rules, and then lists of those that the same rules have.
func partition(rules []v1.NamedRuleWithOperations) [][]string {
	var all []string
	for _, r := range rules {
		all = append(all, r.ResourceNames...)
	}
	all = compact(all)
	lists := [][]string{all}
	position := map[string]int{}
	for _, name := range all {
		var in []byte
		for _, r := range rules {
			in = strconv.AppendBool(in, slices.Contains(r.ResourceNames, name))
		}
		if _, ok := position[string(in)]; !ok {
			position[string(in)] = len(lists)
			lists = append(lists, nil)
		}
		lists[position[string(in)]] = append(lists[position[string(in)]], name)
	}
	return lists
}

// policiesWebhook returns the webhook that validates the polyfill's own kinds.
func policiesWebhook(o Options) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:         "policies." + policyapi.GroupVersion.Group,
		ClientConfig: clientConfig(PoliciesPath, o),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{policyapi.GroupVersion.Group}, APIVersions: []string{policyapi.GroupVersion.Version},
				Resources: policyspec.Resources(), Scope: new(admissionregistrationv1.ClusterScope),
			},
		}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          &o.TimeoutSeconds,
		AdmissionReviewVersions: []string{"v1"},
	}
}

func clientConfig(path string, o Options) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{
		Service:  &admissionregistrationv1.ServiceReference{Namespace: o.Namespace, Name: o.Service, Path: &path, Port: &o.Port},
		CABundle: o.CABundle,
	}
}

// exclusions returns conditions that are false for requests about which no policy decides. Without
// them, a policy that fails could keep the polyfill, or the cluster, from being mended.
func exclusions(o Options) []admissionregistrationv1.MatchCondition {
	var conditions []admissionregistrationv1.MatchCondition
	exclude := func(name, expression string, args ...any) {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: "exclude-" + name, Expression: "!(" + fmt.Sprintf(expression, args...) + ")"})
	}
	exclude("own-namespace", "has(request.namespace) && request.namespace == %q", o.Namespace)
	exclude("own-user", "has(request.userInfo.username) && request.userInfo.username == %q", o.User)
	exclude("policies", "request.resource.group == %q", policyapi.GroupVersion.Group)
	exclude("leases", `request.resource.group == "coordination.k8s.io" && request.resource.resource == "leases" && `+
		`has(request.namespace) && request.namespace in ["kube-system", "kube-node-lease"]`)
	// No policy of an API server decides about these either. Their resources are not stored.
	exclude("reviews", `request.resource.group in ["authentication.k8s.io", "authorization.k8s.io"]`)
	return conditions
}

// list returns a CEL list of the strings.
func list(items []string) string {
	var quoted []string
	for _, item := range items {
		quoted = append(quoted, strconv.Quote(item))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
