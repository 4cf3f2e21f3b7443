// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"celador.io/admission/policyspec"
	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/report"
	"celador.io/offline/suite"
)

// A draft is the suite that New writes, as text, together with the objects that its cases need.
type draft struct {
	// objects are the objects of the file for which the suite is written, and the manifests that
	// the draft has added to the suite.
	objects []*unstructured.Unstructured
	samples []*unstructured.Unstructured
	text    strings.Builder
	// time is the time of all requests. It is nil unless a policy reads request.time.
	time *metav1.Time
}

func (d *draft) begin(name, file string, gates map[string]bool) {
	if gates[string(policyspec.RequestTime)] {
		d.time = new(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	}
	header, _ := yaml.Marshal(map[string]any{"name": name})
	fmt.Fprintf(&d.text, "apiVersion: %s\nkind: %s\nmetadata:\n%s", suite.APIVersion, suite.Kind, indent(string(header), "  "))
	if len(gates) > 0 {
		values, _ := yaml.Marshal(gates)
		fmt.Fprintf(&d.text, "featureGates:\n%s", indent(string(values), "  "))
	}
	d.text.WriteString("manifests:\n")
	d.item(file)
}

// item writes an item of a list in YAML.
func (d *draft) item(value any) {
	text, err := yaml.Marshal(value)
	if err != nil {
		text = []byte(Todo + "\n") // only values that come from YAML are written
	}
	d.text.WriteString("- " + strings.TrimPrefix(indent(string(text), "  "), "  "))
}

// comment writes text as YAML comments, one for each line, with prefix before each.
func (d *draft) comment(prefix, text string) {
	for line := range strings.Lines(report.Printable(strings.TrimSpace(text))) {
		fmt.Fprintf(&d.text, "%s# %s\n", prefix, strings.TrimRight(line, "\n"))
	}
}

func indent(text, prefix string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(prefix + line)
	}
	return out.String()
}

// add adds an object to the manifests of the suite, below a comment.
func (d *draft) add(comment string, object *unstructured.Unstructured) {
	d.comment("", comment)
	d.item(object.Object)
	d.objects = append(d.objects, object)
}

// complete adds the manifests without which a policy does not apply, if the file lacks them: a
// binding, a param for each binding, and a namespace with the labels that namespace selectors
// require. From the bindings, it adds to p what the cases depend on: matchResources, params, and
// whether a binding denies.
func (d *draft) complete(p *policy) {
	name, kind := p.object.GetName(), p.object.GetKind()
	bindings := d.bindings(kind, name)
	if len(bindings) == 0 {
		spec := map[string]any{"policyName": name}
		if kind == cluster.ValidatingKind {
			spec["validationActions"] = []any{"Deny"}
		}
		if p.typed.Spec.ParamKind != nil {
			spec["paramRef"] = map[string]any{"name": "example", "parameterNotFoundAction": "Deny"}
			if params := d.ofKind(p.typed.Spec.ParamKind); params != nil {
				spec["paramRef"].(map[string]any)["name"] = params.GetName()
				if params.GetNamespace() != "" {
					spec["paramRef"].(map[string]any)["namespace"] = params.GetNamespace()
				}
			}
		}
		binding := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": p.object.GetAPIVersion(), "kind": kind + "Binding", "metadata": map[string]any{"name": name}, "spec": spec,
		}}
		d.add("The file has no binding of "+name+".", binding)
		bindings = []*unstructured.Unstructured{binding}
	}
	p.constraints = append(p.constraints, p.typed.Spec.MatchConstraints)
	for _, binding := range bindings {
		var typed admissionv1.ValidatingAdmissionPolicyBinding
		if runtime.DefaultUnstructuredConverter.FromUnstructured(binding.Object, &typed) != nil {
			continue
		}
		p.constraints = append(p.constraints, typed.Spec.MatchResources)
		p.denies = p.denies || slices.Contains(typed.Spec.ValidationActions, admissionv1.Deny)
		d.completeParams(p, typed.Spec.ParamRef)
	}
	labels := p.labels(func(m *admissionv1.MatchResources) *metav1.LabelSelector { return m.NamespaceSelector })
	delete(labels, nameLabel)
	exists := slices.ContainsFunc(d.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Namespace" })
	if len(labels) > 0 && !exists {
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": p.namespace()}}}
		namespace.SetLabels(labels)
		d.add("Policies or bindings select the namespace of the objects by its labels.", namespace)
	}
}

// nameLabel is the label with which Kubernetes labels each namespace, and whose value is the name
// of the namespace.
const nameLabel = "kubernetes.io/metadata.name"

// namespace returns the namespace for the objects of the cases: the one that a namespaceSelector of
// the policy or its bindings selects by name, or else default.
func (p *policy) namespace() string {
	if name := p.labels(func(m *admissionv1.MatchResources) *metav1.LabelSelector { return m.NamespaceSelector })[nameLabel]; name != "" {
		return name
	}
	return metav1.NamespaceDefault
}

func (d *draft) bindings(kind, policy string) []*unstructured.Unstructured {
	var bindings []*unstructured.Unstructured
	for _, object := range d.objects {
		bound, _, _ := unstructured.NestedString(object.Object, "spec", "policyName")
		if object.GroupVersionKind().Group == admissionv1.GroupName && object.GetKind() == kind+"Binding" && bound == policy {
			bindings = append(bindings, object)
		}
	}
	return bindings
}

func (d *draft) ofKind(kind *admissionv1.ParamKind) *unstructured.Unstructured {
	for _, object := range d.objects {
		if object.GetAPIVersion() == kind.APIVersion && object.GetKind() == kind.Kind {
			return object
		}
	}
	return nil
}

// completeParams adds a param for the paramRef of a binding, unless the file has a param of the
// kind. It sets p.params to the param, because expressions may compare fields with its values.
func (d *draft) completeParams(p *policy, ref *admissionv1.ParamRef) {
	kind := p.typed.Spec.ParamKind
	if kind == nil || ref == nil {
		return
	}
	if params := d.ofKind(kind); params != nil {
		p.params = params.Object
		return
	}
	params := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.APIVersion, "kind": kind.Kind}}
	for _, sample := range d.samples {
		if sample.GroupVersionKind() == schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind) {
			params = sample.DeepCopy()
		}
	}
	params.SetName(cmp.Or(ref.Name, "example"))
	if ref.Namespace != "" {
		params.SetNamespace(ref.Namespace)
	}
	if ref.Selector != nil {
		params.SetLabels(wanted(ref.Selector))
	}
	p.params = params.Object
	d.add(Todo+": fill in what "+p.object.GetName()+" reads from its params.", params)
}

// labels returns labels that satisfy the selectors of the policy and its bindings. selector is a
// function that returns the objectSelector or the namespaceSelector of one of them.
func (p *policy) labels(selector func(*admissionv1.MatchResources) *metav1.LabelSelector) map[string]string {
	labels := map[string]string{}
	for _, constraint := range p.constraints {
		if constraint != nil {
			maps.Copy(labels, wanted(selector(constraint)))
		}
	}
	return labels
}

// wanted returns labels that satisfy a selector. It ignores the operators NotIn and DoesNotExist,
// which labels that do not exist satisfy.
func wanted(selector *metav1.LabelSelector) map[string]string {
	labels := map[string]string{}
	if selector == nil {
		return labels
	}
	maps.Copy(labels, selector.MatchLabels)
	for _, requirement := range selector.MatchExpressions {
		switch requirement.Operator {
		case metav1.LabelSelectorOpIn:
			if len(requirement.Values) > 0 { // the server rejects an empty list
				labels[requirement.Key] = requirement.Values[0]
			}
		case metav1.LabelSelectorOpExists:
			labels[requirement.Key] = "x"
		}
	}
	return labels
}

// cases writes the cases of a policy. The names of the cases begin with prefix.
func (d *draft) cases(ctx context.Context, p *policy, prefix string, withPolicies, withoutPolicies *cluster.Cluster) error {
	var rules []admissionv1.NamedRuleWithOperations
	if p.typed.Spec.MatchConstraints != nil {
		rules = p.typed.Spec.MatchConstraints.ResourceRules
	}
	starts := startsOf(rules, d.samples, d.objects)
	attempts := make([]*attempt, len(starts))
	// at returns the attempt to find objects that begins with starts[i]. Attempts are made when
	// they are needed, because each sends many requests, and most policies need only the first.
	at := func(i int) *attempt {
		if attempts[i] == nil {
			attempts[i] = d.attempt(ctx, p, starts[i], withPolicies)
		}
		return attempts[i]
	}
	if p.object.GetKind() == cluster.MutatingKind {
		for i := range starts {
			a := at(i)
			if operations, ok := changes(ctx, a.search, a.allowed, withoutPolicies); ok && len(operations) > 0 {
				return d.mutation(a, prefix, operations)
			}
		}
		return d.mutation(at(0), prefix, nil)
	}
	for i := range p.typed.Spec.Validations {
		a, violating := at(0), (*unstructured.Unstructured)(nil)
		// It is possible that no object of the first kind can violate the validation, for example
		// because it is about a field of another kind. So try all kinds.
		for j := range starts {
			if other := at(j); other.trial.distance == 0 {
				if violating = other.search.violating(ctx, i, other.allowed, other.edits[i]); violating != nil {
					a = other
					break
				}
			}
		}
		if violating == nil {
			violating = a.search.violating(ctx, i, a.allowed, a.edits[i])
		}
		if err := d.validation(ctx, p, a, prefix, i, violating); err != nil {
			return err
		}
	}
	return nil
}

// An attempt is the search for objects for the cases of a policy, among objects of one kind.
type attempt struct {
	search *search
	// allowed is an object that the policy allows or, if none was found, the object that came
	// closest to being allowed. trial is what the policy does with this object.
	allowed *unstructured.Unstructured
	trial   trial
	// edits holds, by the index of a validation, edits of an object that may change the result of
	// this validation. The search tries them to find an object that violates it.
	edits [][]edit
}

func (d *draft) attempt(ctx context.Context, p *policy, from start, withPolicies *cluster.Cluster) *attempt {
	request, object := newRequest(from, d.objects)
	request.time = d.time
	s := &search{cluster: withPolicies, kind: p.object.GetKind(), policy: p.object.GetName(), request: request}
	if wanted := p.labels(func(m *admissionv1.MatchResources) *metav1.LabelSelector { return m.ObjectSelector }); len(wanted) > 0 {
		object.SetLabels(labels.Merge(object.GetLabels(), wanted))
	}
	object = p.fit(ctx, s, object)
	var all []edit
	for _, condition := range p.typed.Spec.MatchConditions {
		all = append(all, p.edits(&request, condition.Expression)...)
	}
	a := &attempt{search: s, edits: make([][]edit, len(p.typed.Spec.Validations))}
	for i, validation := range p.typed.Spec.Validations {
		a.edits[i] = p.edits(&request, validation.Expression)
		all = append(all, a.edits[i]...)
	}
	a.allowed, a.trial = s.closest(ctx, object, all)
	return a
}

// validation writes the two cases of the validation with index i: one whose object satisfies it,
// and one whose object violates it. violating is an object for the second case, or nil if none was
// found.
func (d *draft) validation(ctx context.Context, p *policy, a *attempt, prefix string, i int, violating *unstructured.Unstructured) error {
	expression := p.typed.Spec.Validations[i].Expression
	satisfied := newCase{name: fmt.Sprintf("%svalidations[%d] is satisfied", prefix, i), comment: expression, subject: a.allowed}
	// A binding that only warns or audits admits every object, so the case also states that there
	// is no violation.
	satisfied.expect = map[string]any{"decision": suite.Allowed, "policy": a.search.policy, "violations": 0}
	if a.trial.distance == 0 {
		satisfied.subject = a.search.boundary(ctx, a.allowed, a.edits[i])
	} else {
		satisfied.fillIn = "change the request so that the policy allows it"
	}
	violated := newCase{name: fmt.Sprintf("%svalidations[%d] is violated", prefix, i), comment: expression, subject: violating}
	violated.expect = map[string]any{"decision": suite.Denied, "policy": a.search.policy, "validation": i}
	denies := p.denies
	if violating == nil {
		violated.subject, violated.fillIn = a.allowed, "change the request so that this expression is false"
	} else {
		denies = a.search.judge(ctx, violating).denied[i]
	}
	if !denies {
		violated.expect["decision"] = suite.Allowed
	}
	for _, c := range []newCase{satisfied, violated} {
		if err := d.write(a.search, c); err != nil {
			return err
		}
	}
	return nil
}

// fit returns a copy of the object in the namespace that the namespaceSelectors select, because the
// policy does not match objects in other namespaces. If the copy is no closer to being allowed, fit
// returns the object itself. A cluster-scoped resource, for example, cannot have a namespace.
func (p *policy) fit(ctx context.Context, s *search, object *unstructured.Unstructured) *unstructured.Unstructured {
	if p.namespace() == metav1.NamespaceDefault {
		return object
	}
	inside := object.DeepCopy()
	inside.SetNamespace(p.namespace())
	if s.judge(ctx, inside).distance < s.judge(ctx, object).distance {
		return inside
	}
	return object
}

// edits returns changes of the request's object that may change the result of an expression of the
// policy.
func (p *policy) edits(request *request, expression string) []edit {
	r := &editFinder{variables: map[string]ast.Expr{}, params: p.params, items: map[string][]any{}, subject: request.subject(), requestNamesSubject: request.resource == nil}
	for _, v := range p.typed.Spec.Variables {
		r.variables[v.Name] = parse(v.Expression)
	}
	r.read(parse(expression))
	return r.edits
}

// mutation writes the case of a mutating policy. operations is the patch that the case expects: the
// changes that the policy makes to the object of the case. It is empty if the policy changes none
// of the objects that were tried.
func (d *draft) mutation(a *attempt, prefix string, operations []map[string]any) error {
	c := newCase{name: prefix + "changes the object", subject: a.allowed, comment: "This is what the policy does today. Check that it is what you want."}
	c.expect = map[string]any{"decision": suite.Allowed, "policy": a.search.policy, "patch": operations}
	if len(operations) == 0 {
		c.comment, c.fillIn = "", "change the request so that the policy changes its object, and expect the changes"
		c.expect["patch"] = []any{map[string]any{"op": "add", "path": "/" + Todo, "value": "what the policy sets"}}
	}
	return d.write(a.search, c)
}

// changes returns a JSON patch with everything that the policies change in an object: the
// difference between the objects in the responses of a cluster without the policies and of one with
// them. ok is false if a response has no object.
func changes(ctx context.Context, s *search, object *unstructured.Unstructured, withoutPolicies *cluster.Cluster) (operations []map[string]any, ok bool) {
	if s.cluster == nil || withoutPolicies == nil {
		return nil, false
	}
	var sides [2]map[string]any
	for i, c := range []*cluster.Cluster{withoutPolicies, s.cluster} {
		response, err := c.Admit(ctx, s.request.send(object))
		if err != nil || response.Object == nil {
			return nil, false
		}
		sides[i] = suite.Normalize(response.Object)
	}
	return diff("", sides[0], sides[1]), true
}

// A newCase is a case of the suite before it is written.
type newCase struct {
	name, comment string
	subject       *unstructured.Unstructured
	expect        map[string]any
	// fillIn tells the author what to change, so that the case passes. It is empty if the case
	// passes as it is.
	fillIn string
}

// write writes a case as YAML. Its request is that of the search, with the subject of the case.
func (d *draft) write(s *search, c newCase) error {
	request, err := s.request.write(c.subject)
	if err != nil {
		return err
	}
	if c.fillIn != "" {
		c.name = Todo + " " + c.name
		d.comment("", Todo+": "+c.fillIn+".")
	}
	d.comment("", c.comment)
	d.item(map[string]any{"name": c.name})
	for _, field := range []map[string]any{{"request": request}, {"expect": c.expect}} {
		text, err := yaml.Marshal(field)
		if err != nil {
			return err
		}
		d.text.WriteString(indent(string(text), "  "))
	}
	return nil
}
