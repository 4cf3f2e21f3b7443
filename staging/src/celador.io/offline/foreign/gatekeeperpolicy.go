// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

const (
	// gatekeeperEngine is the name of the engine that evaluates templates in CEL.
	gatekeeperEngine = "K8sNativeValidation"
	// gatekeeperConstraints is the group of constraints.
	gatekeeperConstraints = "constraints.gatekeeper.sh"
	// gatekeeperPrefix is the prefix of the names of policies and bindings that Gatekeeper
	// generates.
	gatekeeperPrefix = "gatekeeper-"
)

//go:embed gatekeeperconstraint.yaml
var gatekeeperDefinition []byte

// A gatekeeperTemplate is a ConstraintTemplate.
type gatekeeperTemplate struct {
	object     *object
	source     *gatekeeperSource // nil if there is no code in CEL
	sourcePath string
	Spec       struct {
		CRD struct {
			Spec struct {
				Names struct {
					Kind string `json:"kind"`
				} `json:"names"`
				Validation struct {
					LegacySchema *bool          `json:"legacySchema"`
					Schema       map[string]any `json:"openAPIV3Schema"`
				} `json:"validation"`
			} `json:"spec"`
		} `json:"crd"`
		Targets []struct {
			Code []struct {
				Engine string          `json:"engine"`
				Source json.RawMessage `json:"source"`
			} `json:"code"`
			Operations []string `json:"operations"`
		} `json:"targets"`
	} `json:"spec"`
}

type (
	// A gatekeeperSource is the CEL code of a template.
	gatekeeperSource struct {
		Validations   []gatekeeperValidation `json:"validations"`
		FailurePolicy string                 `json:"failurePolicy"`
		// Gatekeeper's field is named matchCondition, and that of policies matchConditions.
		MatchCondition  []gatekeeperExpression `json:"matchCondition"`
		MatchConditions []gatekeeperExpression `json:"matchConditions"`
		Variables       []gatekeeperExpression `json:"variables"`
		GenerateVAP     bool                   `json:"generateVAP"`
		Operations      []string               `json:"operations"`
	}
	gatekeeperValidation struct {
		Expression        string `json:"expression"`
		Message           string `json:"message,omitempty"`
		MessageExpression string `json:"messageExpression,omitempty"`
	}
	gatekeeperExpression struct {
		Name       string `json:"name"`
		Expression string `json:"expression"`
	}
)

// template returns the template of an object, or nil and an error.
func (g *gatekeeperBuilder) template(o *object) *gatekeeperTemplate {
	t := &gatekeeperTemplate{object: o}
	if kind := o.GroupVersionKind(); kind.Group != "templates.gatekeeper.sh" || kind.Kind != "ConstraintTemplate" {
		g.failAt(o.origin, "kind", "want a ConstraintTemplate of templates.gatekeeper.sh, not %s of %s", kind.Kind, kind.GroupVersion())
		return nil
	}
	err := json.Unmarshal(o.origin.Raw(), t)
	switch {
	case err != nil:
		g.failAt(o.origin, "spec", "not a ConstraintTemplate: %v", err)
		return nil
	case t.Spec.CRD.Spec.Names.Kind == "":
		g.failAt(o.origin, "spec.crd.spec.names.kind", "required: the kind of constraints")
		return nil
	case len(t.Spec.Targets) != 1:
		g.failAt(o.origin, "spec.targets", "%d targets, want 1", len(t.Spec.Targets))
		return nil
	}
	for i, code := range t.Spec.Targets[0].Code {
		if code.Engine != gatekeeperEngine {
			continue
		}
		t.source, t.sourcePath = &gatekeeperSource{}, fmt.Sprintf("spec.targets[0].code[%d].source", i)
		if !g.check(o.origin.Field(t.sourcePath, code.Source).Decode(t.source)) {
			return nil
		}
		break
	}
	return t
}

// checkConstraint reports whether a constraint is of the kind that a template defines, and adds an
// error if it is not.
func (g *gatekeeperBuilder) checkConstraint(t *gatekeeperTemplate, constraint *object) bool {
	kind, want := constraint.GroupVersionKind(), t.Spec.CRD.Spec.Names.Kind
	if kind.Group != gatekeeperConstraints || kind.Kind != want {
		g.failAt(constraint.origin, "kind", "want a constraint of the template, %s of %s, not %s of %s", want, gatekeeperConstraints, kind.Kind, kind.GroupVersion())
		return false
	}
	if !slices.Contains(gatekeeperVersions, kind.Version) {
		g.failAt(constraint.origin, "apiVersion", "Gatekeeper does not serve %s: want a version of %s", kind.GroupVersion(), strings.Join(gatekeeperVersions, " or "))
		return false
	}
	return true
}

// gatekeeperVersions are the versions of constraints.
var gatekeeperVersions = []string{"v1beta1", "v1alpha1"}

// definition returns the CustomResourceDefinition of the template's constraints, with the version
// that a constraint has.
func (t *gatekeeperTemplate) definition(constraint *object) *object {
	definition := map[string]any{}
	if err := yaml.Unmarshal(gatekeeperDefinition, &definition); err != nil {
		panic(err) // a part of the program
	}
	spec := definition["spec"].(map[string]any)
	kind := constraint.GroupVersionKind()
	plural := strings.ToLower(kind.Kind)
	definition["metadata"] = map[string]any{"name": plural + "." + kind.Group}
	spec["names"] = map[string]any{"kind": kind.Kind, "listKind": kind.Kind + "List", "plural": plural, "singular": plural}
	version := spec["versions"].([]any)[0].(map[string]any)
	version["name"] = kind.Version
	validation := t.Spec.CRD.Spec.Validation
	if parameters := runtime.DeepCopyJSONValue(any(validation.Schema)).(map[string]any); len(parameters) > 0 {
		legacy := t.object.GroupVersionKind().Version != "v1"
		if validation.LegacySchema != nil {
			legacy = *validation.LegacySchema
		}
		if legacy {
			preserveUnknown(parameters)
		}
		properties, _, _ := unstructured.NestedFieldNoCopy(version, "schema", "openAPIV3Schema", "properties", "spec", "properties")
		properties.(map[string]any)["parameters"] = parameters
	}
	return &object{&unstructured.Unstructured{Object: definition}, t.object.origin}
}

// schemaPath is the path of the parameters' schema in a CustomResourceDefinition.
const schemaPath = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.parameters"

// define adds the CustomResourceDefinition of a constraint to the manifests. The template contains
// the schema of the parameters, so errors about this schema have their position in the template.
// define must be called before other manifests are added, because it records this for manifests[0].
func (g *gatekeeperBuilder) define(t *gatekeeperTemplate, constraint *object) {
	g.manifest(t.definition(constraint))
	g.origins["manifests[0]."+schemaPath] = manifest.Origin{Document: t.object.origin, Path: "spec.crd.spec.validation.openAPIV3Schema"}
}

// preserveUnknown makes a schema structural as Gatekeeper does: objects, and values without a type,
// may have any fields.
func preserveUnknown(schema map[string]any) {
	if kind, found := schema["type"]; !found || kind == "object" {
		schema["x-kubernetes-preserve-unknown-fields"] = true
	}
	properties, _ := schema["properties"].(map[string]any)
	children := []any{schema["items"], schema["additionalProperties"]}
	for _, key := range sortedKeys(properties) {
		children = append(children, properties[key])
	}
	for _, child := range children {
		if child, ok := child.(map[string]any); ok {
			preserveUnknown(child)
		}
	}
}

// enforce adds to the manifests what enforces a constraint: its CustomResourceDefinition, the
// constraint itself, the policy of the template and the binding.
func (g *gatekeeperBuilder) enforce(t *gatekeeperTemplate, constraint *object) {
	spec, ok := g.constraintSpec(constraint)
	if !ok {
		return
	}
	actions := g.actions(constraint, spec)
	g.enforced = slices.Contains(actions, any(string(admissionv1.Deny)))
	g.policyName = gatekeeperPrefix + t.object.GetName()
	g.define(t, constraint)
	g.manifest(g.policy(t, constraint, &spec.Match))
	at := fmt.Sprintf("manifests[%d].spec.", len(g.suite.Manifests)-1)
	derive := func(field string, from *object, path string) {
		g.origins[at+field] = manifest.Origin{Document: from.origin, Path: path}
	}
	derive("validations", t.object, t.sourcePath+".validations")
	for i := range t.source.Variables {
		derive(fmt.Sprintf("variables[%d]", gatekeeperVariables+i), t.object, fmt.Sprintf("%s.variables[%d]", t.sourcePath, i))
	}
	conditions := 0
	for _, field := range []struct {
		name  string
		count int
	}{{"matchCondition", len(t.source.MatchCondition)}, {"matchConditions", len(t.source.MatchConditions)}} {
		for i := range field.count {
			derive(fmt.Sprintf("matchConditions[%d]", conditions), t.object, fmt.Sprintf("%s.%s[%d]", t.sourcePath, field.name, i))
			conditions++
		}
	}
	for i := range spec.Match.conditions() {
		derive(fmt.Sprintf("matchConditions[%d]", conditions+i), constraint, "spec.match")
	}
	g.manifest(constraint)
	binding := map[string]any{
		"policyName": g.policyName, "validationActions": actions,
		"paramRef": map[string]any{"name": constraint.GetName(), "parameterNotFoundAction": "Deny"},
	}
	if resources := spec.Match.resources(); len(resources) > 0 {
		binding["matchResources"] = resources
	}
	g.manifest(newObject(constraint.origin, admissionv1.SchemeGroupVersion.String(), cluster.ValidatingKind+"Binding", gatekeeperPrefix+constraint.GetName(), binding))
}

// gatekeeperVariables is the number of variables that Gatekeeper adds to each policy.
const gatekeeperVariables = 2

// policy returns the policy of a template. It matches the requests that the constraint matches.
func (g *gatekeeperBuilder) policy(t *gatekeeperTemplate, constraint *object, match *gatekeeperMatch) *object {
	source := t.source
	operations := source.Operations
	if target := t.Spec.Targets[0].Operations; len(target) > 0 {
		operations = target
	}
	if len(operations) == 0 {
		operations = []string{"*"} // gator verify does not know the operation
	}
	spec := map[string]any{
		"failurePolicy": cmp.Or(source.FailurePolicy, string(admissionv1.Fail)),
		"paramKind":     map[string]any{"apiVersion": constraint.GetAPIVersion(), "kind": constraint.GroupVersionKind().Kind},
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
			"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "operations": operations, "resources": []string{"*/*"},
		}}},
		"validations": source.Validations,
		"variables": append([]gatekeeperExpression{
			{"anyObject", `request.operation == "DELETE" ? oldObject : object`},
			{"params", "has(params.spec) && has(params.spec.parameters) ? params.spec.parameters : null"},
		}, source.Variables...),
	}
	if conditions := slices.Concat(source.MatchCondition, source.MatchConditions, match.conditions()); len(conditions) > 0 {
		spec["matchConditions"] = conditions
	}
	return newObject(t.object.origin, admissionv1.SchemeGroupVersion.String(), cluster.ValidatingKind, g.policyName, spec)
}
