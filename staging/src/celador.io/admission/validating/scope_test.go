// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/modelschema"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// models are those of the kinds of the tests. Deployment and Filter have references in the two forms
// in which documents have them.
const models = `
Deployment:
  properties:
    spec: {properties: {template: {properties: {spec: {$ref: "#/components/schemas/PodSpec"}}}}}
    status: {properties: {replicas: {type: integer}}}
PodSpec:
  properties:
    nodeSelector: {type: object, additionalProperties: {type: string}}
    containers: {type: array, items: {allOf: [{$ref: "#/components/schemas/Container"}], default: {}}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}
    initContainers: {type: array, items: {$ref: "#/components/schemas/Container"}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}
Container:
  properties:
    name: {type: string}
    image: {type: string}
    args: {type: array, items: {type: string}, x-kubernetes-list-type: atomic}
    ports: {type: array, items: {$ref: "#/components/schemas/Port"}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [containerPort, protocol]}
Port:
  properties: {containerPort: {type: integer}, protocol: {type: string}, name: {type: string}}
Filter:
  properties: {spec: {$ref: "#/components/schemas/Term"}}
Term:
  properties:
    word: {type: string}
    all: {type: array, items: {$ref: "#/components/schemas/Term"}}
    named: {type: object, additionalProperties: {$ref: "#/components/schemas/Term"}}
`

// described is a policy.Schemas with the schemas of models. Kinds without a model have none.
type described struct {
	schemas map[string]*modelschema.Schema
}

func describedBy(t testing.TB, text string) *described {
	t.Helper()
	parsed := map[string]*spec.Schema{}
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON, &parsed); err != nil {
		t.Fatal(err)
	}
	d := &described{map[string]*modelschema.Schema{}}
	for kind := range parsed {
		d.schemas[kind] = modelschema.New(func() (*spec.Schema, error) {
			return modelschema.Resolve(func(name string) (*spec.Schema, bool) { s, ok := parsed[name]; return s, ok }, kind)
		})
	}
	return d
}

// Schema implements policy.Schemas.
func (d *described) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	if found := d.schemas[kind.Kind]; found != nil {
		return found, nil
	}
	return nil, errors.New("no document")
}

var scopesOn = policyspec.Features{policyspec.ExpressionScopes: true, policyspec.ValidationFailurePolicy: true}

// scoped returns a policy with one validation for the values in a scope, a type or a path.
func scoped(scope, expression, message string) *v1.ValidatingAdmissionPolicy {
	values := &v1.ScopedValues{Path: scope}
	if name, isType := strings.CutPrefix(scope, "type "); isType {
		values = &v1.ScopedValues{Type: name}
	}
	return policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
		Validations: []v1.Validation{{Scope: values, Expression: expression, MessageExpression: message}},
	})
}

// fields returns "field: message" of each violation of a policy, and "outcome message" of those
// without a field.
func fields(t *testing.T, config validating.Config, a admission.Attributes, p *v1.ValidatingAdmissionPolicy) []string {
	t.Helper()
	server := newServer()
	config.Namespaces, config.Authorizer = server, server
	engine := validating.NewEngine(config)
	s := engine.NewStore()
	if err := s.Set(p, policytest.Binding("b", "p")); err != nil {
		t.Fatal(err)
	}
	result, err := engine.Evaluate(t.Context(), a, server, s.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer result.Free()
	var got []string
	for _, d := range result.Violations {
		at := d.Field
		if d.Outcome == validating.Failed {
			at += " " + string(d.Outcome.String())
		}
		got = append(got, at+": "+d.Message)
	}
	return got
}

func container(name, image string, ports ...corev1.ContainerPort) corev1.Container {
	return corev1.Container{Name: name, Image: image, Ports: ports}
}

func deploymentOf(operation admission.Operation, containers []corev1.Container, old ...corev1.Container) admission.Attributes {
	object := deploy(1)
	object.Spec.Template.Spec.Containers = containers
	object.Spec.Template.Spec.InitContainers = []corev1.Container{container("init", "tools:v1")}
	object.Spec.Template.Spec.NodeSelector = map[string]string{"example.com/zone": "a", "disk": "ssd"}
	var oldObject runtime.Object
	if operation == admission.Update {
		before := deploy(1)
		before.Spec.Template.Spec.Containers = old
		oldObject = before
	}
	if operation == admission.Delete {
		return admission.NewAttributesRecord(nil, object, deployment, "blue", "web", deployments, "", operation, &metav1.DeleteOptions{}, false, jane)
	}
	return admission.NewAttributesRecord(object, oldObject, deployment, "blue", "web", deployments, "", operation, &metav1.CreateOptions{}, false, jane)
}

func TestScopes(t *testing.T) {
	celtest.CheckKept(t)
	create := deploymentOf(admission.Create, []corev1.Container{container("web", "shop/web:v1", corev1.ContainerPort{ContainerPort: 80}), container("log", "log:latest")})
	// The containers have changed places, and "new" is new.
	update := deploymentOf(admission.Update,
		[]corev1.Container{container("log", "other/log:v1"), container("new", "new:v1"), container("web", "shop/web:v2", corev1.ContainerPort{ContainerPort: 80, Name: "http"})},
		container("web", "shop/web:v1", corev1.ContainerPort{ContainerPort: 80}), container("log", "log:v1"))
	const containers, template = "type Container", "spec.template.spec."
	for name, test := range map[string]struct {
		request                    admission.Attributes
		scope, expression, message string
		want                       []string
	}{
		"type":              {create, containers, "!self.image.endsWith(':latest')", "", []string{template + "containers[1]: failed expression for " + template + "containers[1]: !self.image.endsWith(':latest')"}},
		"type, satisfied":   {create, containers, "self.image.contains(':')", "", nil},
		"type, first":       {create, containers, "false", "path + ' has ' + self.image", []string{template + "containers[0]: " + template + "containers[0] has shop/web:v1"}},
		"type, other list":  {create, containers, "self.name != 'init'", "path", []string{template + "initContainers[0]: " + template + "initContainers[0]"}},
		"type inside types": {create, "type Port", "false", "path", []string{template + "containers[0].ports[0]: " + template + "containers[0].ports[0]"}},
		"type of object":    {create, "type Deployment", "self.spec.replicas == 2", "'[' + path + ']'", []string{": []"}},
		"object, default":   {create, "type Deployment", "self.spec.replicas == 2", "", []string{": failed expression for the object: self.spec.replicas == 2"}},
		"type, none":        {create, "type Term", "false", "", nil},
		"object, too":       {create, containers, "object.metadata.name == 'x' && request.operation == 'CREATE'", "string(self.name + object.metadata.name)", []string{template + "containers[0]: webweb"}},
		"path":              {create, template + "containers[*].image", "!self.endsWith(':latest')", "string(self)", []string{template + "containers[1].image: log:latest"}},
		"path, field":       {create, "spec.replicas", "self > 1", "path + string(self)", []string{"spec.replicas: spec.replicas1"}},
		"path, map":         {create, template + "nodeSelector[*]", "self != 'a'", "path", []string{template + "nodeSelector['example.com/zone']: " + template + "nodeSelector['example.com/zone']"}},
		"path, quoted":      {create, template + "nodeSelector['disk']", "false", "path", []string{template + "nodeSelector.disk: " + template + "nodeSelector.disk"}},
		"path, unset":       {create, template + "volumes[*].name", "false", "", nil},
		"path, no object":   {create, "spec.replicas.x", "false", "", []string{" failed: scope: spec.replicas is of type int instead of an object"}},
		"path, no list":     {create, "spec.replicas[*]", "false", "", []string{" failed: scope: spec.replicas is of type int instead of a list or map"}},
		"error":             {create, containers, "self.ports[0].containerPort == 80", "", []string{template + "containers[1] failed: expression 'self.ports[0].containerPort == 80' resulted in error: no such key: ports, for " + template + "containers[1]"}},
		"not compiled":      {create, containers, "self.", "", []string{" failed: compilation error: compilation failed: ERROR: <input>:1:6: Syntax error: no viable alternative at input '.'\n | self.\n | .....^"}},
		"deletion":          {deploymentOf(admission.Delete, []corev1.Container{container("web", "x")}), containers, "false", "", nil},
		"old":               {update, containers, "self.image.split(':')[0] == oldSelf.image.split(':')[0]", "oldSelf.image + ' -> ' + self.image", []string{template + "containers[0]: log:v1 -> other/log:v1"}},
		"old, path":         {update, template + "containers[*].image", "self == oldSelf", "path + oldSelf", []string{template + "containers[0].image: " + template + "containers[0].imagelog:v1"}},
		"old, several keys": {update, "type Port", "!has(self.name) || has(oldSelf.name)", "path", []string{template + "containers[2].ports[0]: " + template + "containers[2].ports[0]"}},
		"old, create":       {create, containers, "self.image == oldSelf.image", "", nil},
		"old, in message":   {update, containers, "self.name != 'new'", "oldSelf == null ? 'new one' : 'old one'", []string{template + "containers[1]: new one"}},
		"old, field":        {update, "spec.replicas", "self != oldSelf", "path", []string{"spec.replicas: spec.replicas"}},
		"old, atomic list":  {update, template + "containers[*].args[*]", "oldSelf == 'x'", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			config := validating.Config{Features: scopesOn, Schemas: describedBy(t, models)}
			got := fields(t, config, test.request, scoped(test.scope, test.expression, test.message))
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// A model that contains itself is found at every depth.
func TestScopeOfRecursiveType(t *testing.T) {
	term := func(word string, terms ...any) map[string]any {
		return map[string]any{"word": word, "all": terms, "named": map[string]any{"a.b": map[string]any{"word": word + " named"}}}
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Filter", "metadata": map[string]any{"name": "f"},
		"spec": term("one", term("two", term("three")), nil),
	}}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Filter"}
	a := admission.NewAttributesRecord(object, nil, kind, "", "f", kind.GroupVersion().WithResource("filters"), "", admission.Create, &metav1.CreateOptions{}, false, jane)
	config := validating.Config{Features: scopesOn, Schemas: describedBy(t, models)}
	for word, field := range map[string]string{
		"one": "spec", "two": "spec.all[0]", "three": "spec.all[0].all[0]", "three named": "spec.all[0].all[0].named['a.b']", "two named": "spec.all[0].named['a.b']",
	} {
		want := []string{field + ": " + field}
		if got := fields(t, config, a, scoped("type Term", "self.word != '"+word+"'", "path")); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

// Without a schema, failurePolicy decides; when the schema is known or changes, requests see that.
func TestScopesAndSchemas(t *testing.T) {
	a := deploymentOf(admission.Create, []corev1.Container{container("web", "web:latest")})
	p := scoped("type Container", "!self.image.endsWith(':latest')", "path")
	const unknown = " failed: scope: the schema of apps/v1, Kind=Deployment is not known: "
	if got := fields(t, validating.Config{Features: scopesOn}, a, p); fmt.Sprint(got) != fmt.Sprint([]string{unknown + "schemas are not available here"}) {
		t.Errorf("without schemas: %q", got)
	}
	schemas := &described{map[string]*modelschema.Schema{}}
	config := validating.Config{Features: scopesOn, Schemas: schemas}
	server := newServer()
	config.Namespaces, config.Authorizer = server, server
	engine := validating.NewEngine(config)
	s := engine.NewStore()
	if err := s.Set(p, policytest.Binding("b", "p")); err != nil {
		t.Fatal(err)
	}
	expect := func(state, want string) {
		t.Helper()
		result, err := engine.Evaluate(t.Context(), a, server, s.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range result.Violations {
			got = d.Message
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
	expect("unknown", strings.TrimPrefix(unknown, " failed: ")+"no document")
	schemas.schemas["Deployment"] = describedBy(t, models).schemas["Deployment"]
	expect("known", "spec.template.spec.containers[0]")
	expect("again", "spec.template.spec.containers[0]")
	schemas.schemas["Deployment"] = describedBy(t, "Deployment: {type: object}").schemas["Deployment"]
	expect("changed", "")
}

// While the gate is off, the engine ignores the scope.
func TestScopesDisabled(t *testing.T) {
	a := deploymentOf(admission.Create, nil)
	if got := fields(t, validating.Config{}, a, scoped("type Container", "false", "'x'")); fmt.Sprint(got) != "[: x]" {
		t.Errorf("got %q", got)
	}
	if got := fields(t, validating.Config{}, a, scoped("type Container", "self.x", "")); len(got) != 1 || !strings.Contains(got[0], "undeclared reference to 'self'") {
		t.Errorf("got %q", got)
	}
}

// All values spend one budget, that of the policy.
func TestManyScopedValues(t *testing.T) {
	const size = 100_000
	object := deploy(1)
	object.Spec.Template.Spec.NodeSelector = map[string]string{}
	for i := range size {
		object.Spec.Template.Spec.NodeSelector[fmt.Sprint(i)] = "x"
	}
	a := admission.NewAttributesRecord(object, nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
	config := validating.Config{Features: scopesOn}
	const path = "spec.template.spec.nodeSelector[*]"
	if got := fields(t, config, a, scoped(path, "self == 'x'", "")); got != nil {
		t.Errorf("cheap: %q", got)
	}
	got := fields(t, config, a, scoped(path, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(i, [1, 2, 3, 4, 5].all(j, self == 'x'))", ""))
	if len(got) != 1 || !strings.HasPrefix(got[0], " failed: validation failed due to running out of cost budget, no further validation rules will be run, for spec.template.spec.nodeSelector.") {
		t.Errorf("expensive: %q", got)
	}
}

// withSelectors returns a request for a Deployment with a node selector of the given keys.
func withSelectors(keys ...string) admission.Attributes {
	object := deploy(1)
	object.Spec.Template.Spec.NodeSelector = map[string]string{}
	for _, key := range keys {
		object.Spec.Template.Spec.NodeSelector[key] = "x"
	}
	return admission.NewAttributesRecord(object, nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
}

// Clients choose the keys of maps. What they are told is short, whatever the path is.
func TestLongPaths(t *testing.T) {
	a := withSelectors(strings.Repeat("k", 1<<20))
	const path, want = "spec.template.spec.nodeSelector[*]", 1024 + 3
	server := newServer()
	for expression, longest := range map[string]int{"self == 'y'": 1300, "self == 1 / int(self.size() - 1)": 1300} {
		features := policyspec.Features{policyspec.ExpressionScopes: true, policyspec.Causes: true}
		engine := validating.NewEngine(validating.Config{Features: features, Namespaces: server, Authorizer: server})
		s := engine.NewStore()
		binding := policytest.Binding("b", "p")
		binding.Spec.ValidationActions = []v1.ValidationAction{v1.Deny, v1.Audit}
		if err := s.Set(scoped(path, expression, ""), binding); err != nil {
			t.Fatal(err)
		}
		result, err := engine.Evaluate(t.Context(), a, server, s.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Violations) != 1 {
			t.Fatalf("%s: %d violations", expression, len(result.Violations))
		}
		d := result.Violations[0]
		if len(d.Field) != want || !strings.HasPrefix(d.Field, "spec.template.spec.nodeSelector.kkk") || !strings.HasSuffix(d.Field, "k...") || len(d.Message) > longest {
			t.Errorf("%s: field of %d bytes, message of %d: %.200q", expression, len(d.Field), len(d.Message), d.Message)
		}
		var status *apierrors.StatusError
		if err := result.Err(); !errors.As(err, &status) {
			t.Fatalf("%s: got %v, want an API error", expression, err)
		}
		if text, err := json.Marshal(status.ErrStatus); err != nil || len(text) > 5000 {
			t.Errorf("%s: a status of %d bytes: %v", expression, len(text), err)
		}
		annotations, _ := result.AuditAnnotations()
		for _, annotation := range annotations {
			if len(annotation.Value) > 5000 {
				t.Errorf("%s: annotation %s of %d bytes", expression, annotation.Key, len(annotation.Value))
			}
		}
		result.Free()
	}
	// The expression reads the path as it is, as often as it likes.
	if got := fields(t, validating.Config{Features: scopesOn}, a, scoped(path, "path.size() > 1000000 && path.endsWith('kk') && path == path", "")); got != nil {
		t.Errorf("reading the path: %.200q", got)
	}
}

// Long paths are charged before an expression reads them.
func TestManyLongPaths(t *testing.T) {
	keys := make([]string, 2000)
	for i := range keys {
		keys[i] = fmt.Sprint(strings.Repeat("k", 100_000), i)
	}
	shared := withSelectors(keys...)
	const path = "spec.template.spec.nodeSelector[*]"
	config := validating.Config{Features: scopesOn}
	if got := fields(t, config, shared, scoped(path, "self == 'x'", "")); got != nil {
		t.Errorf("without reading paths: %.200q", got)
	}
	got := fields(t, config, shared, scoped(path, "path != ''", ""))
	const want = " failed: validation failed due to running out of cost budget, no further validation rules will be run: the values of 'path' are too long"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %.300q, want %q", got, want)
	}
}

// Policies with equal expressions share results only where they do not depend on the value: all find
// the second container, and not the value that another policy has seen.
func TestScopesShareNoValues(t *testing.T) {
	celtest.CheckKept(t)
	a := deploymentOf(admission.Update, []corev1.Container{container("web", "web:v1"), container("log", "log:latest")}, container("web", "web:v0"), container("log", "log:v0"))
	server := newServer()
	engine := validating.NewEngine(validating.Config{Features: scopesOn, Schemas: describedBy(t, models), Namespaces: server, Authorizer: server})
	for _, expression := range []string{
		"!self.image.endsWith(':latest')", "oldSelf.image != 'log:v0'", "!path.endsWith('[1]')",
		"object.spec.replicas == 1 && self.name != 'log'",
	} {
		s := engine.NewStore()
		const policies = 5
		for i := range policies {
			p := scoped("type Container", expression, "path + string(self.name)")
			p.Name = fmt.Sprintf("p%d", i)
			if err := s.Set(p, policytest.Binding(p.Name, p.Name)); err != nil {
				t.Fatal(err)
			}
		}
		snapshot := s.Snapshot()
		for range 3 { // a program recurs once two policies of a request have evaluated it
			result, err := engine.Evaluate(t.Context(), a, server, snapshot)
			if err != nil {
				t.Fatal(err)
			}
			const want = "spec.template.spec.containers[1]"
			for _, d := range result.Violations {
				if d.Field != want || d.Message != want+"log" {
					t.Errorf("%s: %s: %s at %s", expression, d.Policy, d.Message, d.Field)
				}
			}
			if len(result.Violations) != policies {
				t.Errorf("%s: %d violations, want %d", expression, len(result.Violations), policies)
			}
			result.Free()
		}
	}
}
