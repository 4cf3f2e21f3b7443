// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	explain "k8s.io/kubectl/pkg/explain/v2"
)

// modelPrefix is the prefix of all model names of the group, on every Kubernetes server.
const modelPrefix = "io.k8s.api.admissionregistration."

func modelName(version, kind string) string { return modelPrefix + version + "." + kind }

func TestOpenAPIV3(t *testing.T) {
	root := openapi3.NewRoot(stock(t, admin).Discovery().OpenAPIV3())
	for _, version := range versions[mutatingPolicies] {
		t.Run(version, func(t *testing.T) {
			document := testserver.Must(root.GVSpec(schema.GroupVersion{Group: group, Version: version}))(t)
			for resource, kind := range kinds {
				if !slices.Contains(versions[resource], version) {
					continue
				}
				model := document.Components.Schemas[modelName(version, kind)]
				if model == nil {
					t.Fatalf("no model of %s", kind)
				}
				expectKind(t, model.Extensions, version, kind)
				expectDescriptions(t, document, modelName(version, kind), map[string]bool{})
				path := "/apis/" + group + "/" + version + "/" + resource
				paths := []string{path, path + "/{name}"}
				if rules[resource] != nil {
					paths = append(paths, path+"/{name}/status")
				}
				for _, path := range paths {
					if document.Paths.Paths[path] == nil {
						t.Errorf("no path %s", path)
					}
				}
			}
			// All versions share the models of spec and status, whose list keys clients need.
			for model, lists := range map[string]map[string][]string{
				"ValidatingAdmissionPolicySpec":   {"variables": {"name"}, "matchConditions": {"name"}},
				"ValidatingAdmissionPolicyStatus": {"conditions": {"type"}, "observedCustomResources": {"group", "version", "kind"}},
				"MutatingAdmissionPolicyStatus":   {"conditions": {"type"}, "observedCustomResources": {"group", "version", "kind"}},
			} {
				if strings.HasPrefix(model, kinds[policies]) && !slices.Contains(versions[policies], version) {
					continue
				}
				fields := document.Components.Schemas[modelName("v1", model)].Properties
				for list, want := range lists {
					extensions := fields[list].Extensions
					keys, _ := extensions.GetStringSlice("x-kubernetes-list-map-keys")
					if kind, _ := extensions.GetString("x-kubernetes-list-type"); kind != "map" || !slices.Equal(keys, want) {
						t.Errorf("%s of %s: list type %q with keys %v, want a map by %v", list, model, kind, keys, want)
					}
				}
			}
		})
	}
}

func expectKind(t *testing.T, extensions spec.Extensions, version, kind string) {
	t.Helper()
	gvks, _ := extensions["x-kubernetes-group-version-kind"].([]any)
	for _, gvk := range gvks {
		fields, _ := gvk.(map[string]any)
		if fields["group"] == group && fields["version"] == version && fields["kind"] == kind {
			return
		}
	}
	t.Errorf("the model of %s %s is for %v", version, kind, gvks)
}

// expectDescriptions checks that the models and all of their fields have descriptions, which
// kubectl explain prints.
func expectDescriptions(t *testing.T, document *spec3.OpenAPI, model string, seen map[string]bool) {
	t.Helper()
	if seen[model] || !strings.HasPrefix(model, modelPrefix) {
		return
	}
	seen[model] = true
	if document.Components.Schemas[model].Description == "" {
		t.Errorf("%s has no description", model)
	}
	for name, property := range document.Components.Schemas[model].Properties {
		if property.Description == "" {
			t.Errorf("%s.%s has no description", model, name)
		}
		references := property.AllOf
		if property.Items != nil {
			references = append(references, *property.Items.Schema)
			references = append(references, property.Items.Schema.AllOf...)
		}
		for _, reference := range references {
			if target := reference.Ref.String(); target != "" {
				expectDescriptions(t, document, strings.TrimPrefix(target, "#/components/schemas/"), seen)
			}
		}
	}
}

func TestOpenAPIV2(t *testing.T) {
	var document struct {
		Definitions map[string]spec.Schema
		Paths       map[string]any
	}
	get(t, "/openapi/v2", "", &document)
	for resource, kind := range kinds {
		for _, version := range versions[resource] {
			model, ok := document.Definitions[modelName(version, kind)]
			if !ok {
				t.Errorf("%s: no definition of %s", version, kind)
			}
			expectKind(t, model.Extensions, version, kind)
			if path := "/apis/" + group + "/" + version + "/" + resource; document.Paths[path] == nil {
				t.Errorf("no path %s", path)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	client := stock(t, admin).Discovery().OpenAPIV3()
	for path, want := range map[string][]string{
		policies:                                                {"KIND:       ValidatingAdmissionPolicy", "  spec\t<ValidatingAdmissionPolicySpec>", "  status\t<ValidatingAdmissionPolicyStatus>"},
		policies + " spec failurePolicy":                        {"FIELD: failurePolicy <string>", "ENUM:\n    Fail\n    Ignore"},
		policies + " spec typeChecking":                         {"FIELD: typeChecking <string>", "ENUM:\n    Enforced\n    Informational"},
		policies + " status observedCustomResources":            {"FIELD: observedCustomResources <[]ObservedCustomResource>", "  generation\t<integer> -required-"},
		policies + " spec matchConstraints resourceRules scope": {"FIELD: scope <string>"},
		policies + " spec validations":                          {"FIELD: validations <[]Validation>", "  expression\t<string> -required-"},
		bindings + " spec":                                      {"KIND:       ValidatingAdmissionPolicyBinding", "  validationActions\t<[]string>"},
		bindings + " spec paramRef":                             {"  parameterNotFoundAction\t<string>", "  selector\t<LabelSelector>"},
		mutatingPolicies + " spec":                              {"KIND:       MutatingAdmissionPolicy", "  mutations\t<[]Mutation>", "  enum: IfNeeded, Never"},
		mutatingPolicies + " spec mutations":                    {"  jsonPatch\t<JSONPatch>", "  strategicMergePatch\t<StrategicMergePatch>"},
		mutatingPolicies + " spec typeChecking":                 {"FIELD: typeChecking <string>", "ENUM:\n    Enforced\n    Informational"},
		mutatingPolicies + " status":                            {"FIELD: status <MutatingAdmissionPolicyStatus>", "  conditions\t<[]Condition>", "  typeChecking\t<TypeChecking>"},
		mutatingBindings + " spec":                              {"KIND:       MutatingAdmissionPolicyBinding", "  policyName\t<string>"},
	} {
		fields := strings.Fields(path)
		for _, version := range versions[fields[0]] {
			t.Run(path+" "+version, func(t *testing.T) {
				resource := schema.GroupVersionResource{Group: group, Version: version, Resource: fields[0]}
				var text bytes.Buffer
				if err := explain.PrintModelDescription(fields[1:], &text, client, resource, false, 0, "plaintext"); err != nil {
					t.Fatal(err)
				}
				for _, want := range append(want, "GROUP:      "+group, "VERSION:    "+version, "DESCRIPTION:\n    ") {
					if !strings.Contains(text.String(), want) {
						t.Errorf("%q is missing in\n%s", want, text.String())
					}
				}
			})
		}
	}
}
