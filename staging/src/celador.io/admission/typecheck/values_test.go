// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
)

// modelled are the models of Deployment and Pod in part.
var modelled = modelschema.Document{
	"Deployment": object(map[string]spec.Schema{"spec": *object(map[string]spec.Schema{"template": *object(map[string]spec.Schema{"spec": *spec.RefSchema("PodSpec")}), "replicas": *spec.Int32Property()})}),
	"Pod":        object(map[string]spec.Schema{"spec": *spec.RefSchema("PodSpec")}),
	"PodSpec":    object(map[string]spec.Schema{"containers": keyed(spec.ArrayProperty(spec.RefSchema("Container")), "name"), "tolerations": *spec.ArrayProperty(spec.MapProperty(spec.StringProperty())), "nodeSelector": *spec.MapProperty(spec.StringProperty())}),
	"Container":  object(map[string]spec.Schema{"image": *spec.StringProperty(), "extra": {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}}),
	"ConfigMap":  object(map[string]spec.Schema{"data": *spec.MapProperty(spec.StringProperty())}),
}

func keyed(list *spec.Schema, keys ...any) spec.Schema {
	list.Extensions = spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
	return *list
}

var noKind schema.GroupVersionKind

func object(properties map[string]spec.Schema) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: properties}}
}

// scope gives the first validation a scope.
func scope(values v1.ScopedValues) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) { s.Validations[0].Scope = &values }
}

func TestScopes(t *testing.T) {
	resolved := schemas{}
	for _, kind := range []string{"Deployment", "Pod", "ConfigMap"} {
		found, err := modelled.Resolve(kind)
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "Deployment":
			resolved[deployment] = found
		case "Pod":
			resolved[pod] = found
		default:
			resolved[configMap] = found
		}
	}
	const expression, inType, inPath = "spec.validations[0].expression", "spec.validations[0].scope.type", "spec.validations[0].scope.path"
	all := []func(*v1.ValidatingAdmissionPolicySpec){rule("apps", "v1", "deployments"), rule("", "v1", "pods", "configmaps")}
	for name, test := range map[string]struct {
		values     v1.ScopedValues
		expression string
		change     []func(*v1.ValidatingAdmissionPolicySpec)
		want       []found
	}{
		"type":               {v1.ScopedValues{Type: "Container"}, "self.image != oldSelf.image && path != '' && object.metadata.name != ''", all, nil},
		"type, misspelt":     {v1.ScopedValues{Type: "Container"}, "self.images == ''", all, []found{{expression, "<input>:1:5: undefined field 'images'", pod, noKind}, {expression, "<input>:1:5: undefined field 'images'", deployment, noKind}}},
		"type, wrong":        {v1.ScopedValues{Type: "Container"}, "self.image > 1", all[:1], []found{{expression, "<input>:1:12: found no matching overload for '_>_' applied to '(string, int)'", deployment, noKind}}},
		"no such type":       {v1.ScopedValues{Type: "Contaner"}, "self.image == ''", all, []found{{inType, `objects have no values of type "Contaner": did you mean "Container"?`, noKind, noKind}}},
		"suggested type":     {v1.ScopedValues{Type: "Contaner"}, "self.image == ''", all[:1], []found{{inType, `objects have no values of type "Contaner": did you mean "Container"?`, noKind, noKind}}},
		"perhaps behind *":   {v1.ScopedValues{Type: "Contaner"}, "self.image == ''", append(all, rule("*", "*", "*")), nil},
		"path":               {v1.ScopedValues{Path: "spec.template.spec.containers[*].image"}, "self.size() < 5", all, nil},
		"path, wrong":        {v1.ScopedValues{Path: "spec.template.spec.containers[*].image"}, "self < 5", all, []found{{expression, "<input>:1:6: found no matching overload for '_<_' applied to '(string, int)'", deployment, noKind}}},
		"map":                {v1.ScopedValues{Path: "spec.nodeSelector[*]"}, "self.x", all, []found{{expression, "<input>:1:5: type 'string' does not support field selection", pod, noKind}}},
		"no such path":       {v1.ScopedValues{Path: "spec.tmplate.spec"}, "self.x", all[:1], []found{{inPath, `objects have no values at the path: spec has no field "tmplate": did you mean "template"?`, noKind, noKind}}},
		"no list":            {v1.ScopedValues{Path: "spec.replicas[*]"}, "self.x", all[:1], []found{{inPath, "objects have no values at the path: spec.replicas is neither a list nor a map", noKind, noKind}}},
		"undescribed object": {v1.ScopedValues{Path: "spec.template.spec.containers[*].extra.a[*].b"}, "self.x.y", all, nil},
		"old, keys":          {v1.ScopedValues{Path: "spec.template.spec.containers[*].image"}, "self == oldSelf", all, nil},
		"old, no keys": {v1.ScopedValues{Path: "spec.tolerations[*].key"}, "self == oldSelf", all, []found{
			{inPath, "the expression is never evaluated, because it reads oldSelf and spec.tolerations is a list whose items have no keys", noKind, noKind}}},
		"no old, no keys": {v1.ScopedValues{Path: "spec.tolerations[*].key"}, "self != ''", all, nil},
		"no scope":        {v1.ScopedValues{}, "self.x", all[:1], []found{{expression, "<input>:1:1: undeclared reference to 'self' (in container '')", deployment, noKind}}},
	} {
		t.Run(name, func(t *testing.T) {
			changes := test.change
			if test.values != (v1.ScopedValues{}) {
				changes = append(changes[:len(changes):len(changes)], scope(test.values))
			}
			result := checker(t, mapperFor(deployment, pod, configMap), resolved).CheckValidating(policy(test.expression, changes...))
			if diff := cmp.Diff(test.want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}
