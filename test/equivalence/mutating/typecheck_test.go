// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	models "k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/test/equivalence/harness"
)

// described resolves the schemas of built-in types and of widgets.
type described struct{ resolver.SchemaResolver }

func (d described) ResolveSchema(kind schema.GroupVersionKind) (*models.Schema, error) {
	if kind == harness.Widget || kind == harness.NewerWidget {
		for _, model := range custom(kind) {
			return model, nil
		}
	}
	return d.SchemaResolver.ResolveSchema(kind)
}

var checker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
})

// checkTypes checks a policy against the type of the request's object in the version that the
// policy matches.
func checkTypes(t *testing.T, p *v1.MutatingAdmissionPolicy, r request) *typecheck.Result {
	t.Helper()
	version, kind := sees(p, r), r.Kind
	if version != r.Resource.GroupVersion() {
		kind = version.WithKind(r.Kind.Kind)
	}
	resource, mapper := version.WithResource(r.Resource.Resource), meta.NewDefaultRESTMapper(nil)
	mapper.AddSpecific(kind, resource, resource, meta.RESTScopeNamespace)
	p = p.DeepCopy()
	p.Spec.MatchConstraints = matching(v1.Exact, rule(resource.Group, resource.Version, resource.Resource))
	c, err := checker()
	must(t, err)
	return c.With(struct {
		meta.RESTMapper
		resolver.SchemaResolver
	}{mapper, described{builtintypes.Schemas}}).CheckMutating(p)
}

// sound maps examples without type errors at run time to the reason why type checking reports
// them.
var sound = map[string]string{
	"JSON patches/wrong object in a list":       "Kubernetes does not look at the types of constructors in lists that are the value of a JSON patch",
	"conditions/reads variables":                "such a condition is refused on write",
	"conditions/too expensive, ignored":         "such a condition is refused on write",
	"conditions/error, ignored":                 "the error is ignored",
	"conditions/false before an error":          "another condition is false",
	"conditions/false after an error":           "another condition is false",
	"evaluations/does not compile, ignored":     "the error is ignored",
	"evaluations/error ignored":                 "the error is ignored",
	"evaluations/unused variable with an error": "the variable is not read",
	"reinvocation/first fails, ignored":         "the error is ignored",
}

// wrong are the examples whose requests fail because of types.
var wrong = []string{
	"JSON patches/object of a wrong type",
	"apply configurations/integer for text",
	"apply configurations/list for an object",
	"apply configurations/object for a list",
	"apply configurations/text for an integer",
	"apply configurations/unknown field",
	"apply configurations/unknown top",
	"apply configurations/widget's unknown",
	"apply configurations/wrong type",
	"apply configurations/wrong type in a list",
	"conditions/error",
	"evaluations/error",
	"evaluations/error in a JSON patch",
	"evaluations/error in a JSON patch's path",
	"evaluations/error in a JSON patch's value",
	"evaluations/unknown field of a JSON patch",
	"evaluations/unknown name",
	"evaluations/unknown variable",
	"evaluations/variable with an error",
	"reinvocation/error in the second",
}

// TestTypesOfExamples checks that type checking reports the examples that fail because of types,
// and no others.
func TestTypesOfExamples(t *testing.T) {
	checked := 0
	for topic, cases := range topics() {
		for name, e := range cases {
			t.Run(topic+"/"+name, func(t *testing.T) {
				if e.on == "" {
					e.on = "create"
				}
				var findings []typecheck.Finding
				for _, p := range e.scenario().Policies {
					result := checkTypes(t, p, fixed[e.on])
					checked += len(result.Types)
					findings = append(findings, result.Enforceable().Findings...)
				}
				_, excepted := sound[topic+"/"+name]
				expected := excepted || slices.Contains(wrong, topic+"/"+name)
				if excepted && e.fails != "" {
					t.Errorf("does not work: %s", e.fails)
				}
				if expected && findings == nil {
					t.Error("nothing found")
				}
				if !expected && e.fails == "" && findings != nil {
					t.Errorf("works, but found %v", findings)
				}
			})
		}
	}
	if checked < 300 {
		t.Errorf("checked %d policies", checked)
	}
}

var (
	// typeError matches the server's error for a configuration whose fields or types do not fit
	// the schema. It also matches null values.
	typeError = regexp.MustCompile(`unexpected type name|field not declared in schema|expected (numeric|string|boolean|list|map)`)
	null      = regexp.MustCompile(`NullValue|NULL_VALUE`)
	// unused matches fields that the type lacks but that never get a value.
	unused = regexp.MustCompile(`object\.\?spec\.volumes|\?\w+: optional\.none\(\)`)
)

// merging returns a spec with a merge patch.
func merging(patchType v1.PatchType, expression string) spec {
	m := v1.Mutation{PatchType: patchType}
	if patchType == v1.PatchTypeJSONMergePatch {
		m.JSONMergePatch = &v1.JSONMergePatch{Expression: expression}
	} else {
		m.StrategicMergePatch = &v1.StrategicMergePatch{Expression: expression}
	}
	return spec{Mutations: []v1.Mutation{m}}
}

// TestTypesOfGeneratedObjects checks that type checking reports no configuration that the server
// accepts, and each one that the server rejects because of types.
func TestTypesOfGeneratedObjects(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MutatingAdmissionPolicyInlineExpressions, true)
	requests := map[string]string{"Deployment": "create", "Pod": "create pod", "Widget": "create widget"}
	worked, failed := 0, 0
	for i := range uint64(400) {
		g := newGenerator(*harness.Seed, i)
		kind := harness.Pick(g, "Deployment", "Pod", "Widget")
		source := g.object("Object", configurable[kind], 0)
		made := applying(source)
		if kind != "Widget" { // the object of which is checked when all policies are done
			made = harness.Pick(g, made, made, merging(v1.PatchTypeJSONMergePatch, source), merging(v1.PatchTypeStrategicMergePatch, source))
		}
		r, s := fixed[requests[kind]], example{spec: made}.scenario()
		var got round
		synctest.Test(t, func(t *testing.T) {
			c := start(t, s)
			got = c.examine(t, c.celador, r).last()
		})
		findings := checkTypes(t, s.Policies[0], r).Findings
		switch {
		case got.Error == "":
			worked++
			if findings != nil && !unused.MatchString(source) {
				t.Errorf("%s works, but found %v", source, findings)
			}
		case typeError.MatchString(got.Error) && !null.MatchString(got.Error):
			failed++
			if findings == nil {
				t.Errorf("%s fails, but nothing found: %s", source, got.brief())
			}
		}
	}
	if worked < 100 || failed < 20 {
		t.Errorf("%d generated objects work, %d have wrong types", worked, failed)
	}
}
