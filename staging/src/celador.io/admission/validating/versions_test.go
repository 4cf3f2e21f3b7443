// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// The memory of an evaluation is reused. Results that are not freed keep theirs, and the
// texts of a freed result stay valid.
func TestValuesOfSeveralRequests(t *testing.T) {
	s := newServer()
	engine := validating.NewEngine(validating.Config{Namespaces: s})
	snapshot := store(
		policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: policytest.Match(v1.Equivalent),
			Variables: []v1.Variable{
				{Name: "container", Expression: "object.spec.template.spec.containers[0]"},
				{Name: "images", Expression: "object.spec.template.spec.containers.map(c, c.image)"},
			},
			Validations: []v1.Validation{{
				Expression:        "has(variables.container.workingDir)",
				MessageExpression: "variables.images.join(' ')",
			}, {
				Expression: "object.spec.template.metadata.labels['team'] == 'red'",
				Message:    "another team",
			}},
			AuditAnnotations: []v1.AuditAnnotation{{Key: "names", ValueExpression: "object.spec.template.spec.containers.map(c, c.name + '-' + request.name).join(' ')"}},
		}),
		policytest.Binding("b", "p", v1.Deny),
	).Snapshot()
	evaluate := func(i int) (result validating.Result, want []string) {
		object := deploy(1)
		spec := &object.Spec.Template
		var images, names []string
		for n := range i%4 + 1 {
			c := corev1.Container{Name: fmt.Sprint("c", n), Image: fmt.Sprintf("i%d-%d", i, n)}
			spec.Spec.Containers = append(spec.Spec.Containers, c)
			images, names = append(images, c.Image), append(names, c.Name+"-web")
		}
		team := "expression 'object.spec.template.metadata.labels['team'] == 'red'' resulted in error: no such key: labels"
		if i%3 > 0 {
			spec.Labels, team = map[string]string{"team": "blue"}, "another team"
		}
		result, err := engine.Evaluate(t.Context(), admission.NewAttributesRecord(object, nil, deployment, "blue", "web", deployments, "", admission.Create, nil, false, jane), s, snapshot)
		if err != nil {
			t.Fatal(err)
		}
		return result, []string{strings.Join(images, " "), team, strings.Join(names, " ")}
	}
	texts := func(r validating.Result) []string {
		return []string{r.Violations[0].Message, r.Violations[1].Message, r.Annotations[0].Value}
	}
	kept, wantKept := evaluate(7)
	for i := range 40 {
		result, want := evaluate(i)
		got := texts(result)
		result.Free()
		next, _ := evaluate(i + 1)
		next.Free()
		if !slices.Equal(got, want) {
			t.Errorf("texts of request %d are %q, want %q", i, got, want)
		}
	}
	if got := texts(kept); !slices.Equal(got, wantKept) {
		t.Errorf("texts of the kept result are %q, want %q", got, wantKept)
	}
}

// Policies may read the object of a request in any number of versions.
func TestManyVersions(t *testing.T) {
	s := newServer()
	objects, want := []any{}, []string{}
	for i := range 9 {
		version := schema.GroupVersion{Group: "extensions", Version: fmt.Sprint("v", i+1)}
		s.ObjectCreater.(*runtime.Scheme).AddKnownTypes(version, &extensionsv1beta1.Deployment{})
		s.EquivalentResourceMapper.(runtime.EquivalentResourceRegistry).RegisterKindFor(version.WithResource("deployments"), "", version.WithKind("Deployment"))
		objects = append(objects, policytest.Validating(version.Version, v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(version.WithResource("deployments"))),
			Validations:      []v1.Validation{{Expression: "false", MessageExpression: "object.apiVersion + ' ' + request.resource.version"}},
		}), policytest.Binding(version.Version, version.Version))
		want = append(want, fmt.Sprintf("%s: %s %[1]s", version.Version, version))
	}
	engine, all := validating.NewEngine(validating.Config{Namespaces: s}), store(objects...).Snapshot()
	few := store(objects[:6]...).Snapshot()
	for i := range 10 {
		snapshot, want := all, want
		if i%2 == 0 {
			snapshot, want = few, want[:3]
		}
		result, err := engine.Evaluate(t.Context(), create(1), s, snapshot)
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(result.Decisions()); !slices.Equal(got, want) {
			t.Errorf("messages are %q, want %q", got, want)
		}
		result.Free()
	}
}
