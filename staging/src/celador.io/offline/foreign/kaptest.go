// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// Kaptest is the format of the test manifests of kaptest (https://github.com/pfnet/kaptest).
type Kaptest struct{}

// kaptestVersion is the version of the format.
const kaptestVersion = "v1alpha1"

type (
	kaptestManifest struct {
		Version              string         `json:"version"`
		Policies             []string       `json:"policies"`
		Resources            []string       `json:"resources"`
		SchemaLocations      []string       `json:"schemaLocations"`
		CRDs                 []string       `json:"crds"`
		SkipSchemaValidation bool           `json:"skipSchemaValidation"`
		VAPTestSuites        []kaptestSuite `json:"vapTestSuites"`
		MAPTestSuites        []kaptestSuite `json:"mapTestSuites"`
	}
	kaptestSuite struct {
		Policy string        `json:"policy"`
		Tests  []kaptestTest `json:"tests"`
	}
	kaptestTest struct {
		Object               objectReference  `json:"object"`
		OldObject            objectReference  `json:"oldObject"`
		Param                objectReference  `json:"param"`
		Expect               string           `json:"expect"`
		UserInfo             *kaptestUserInfo `json:"userInfo"`
		DeniedMessage        string           `json:"deniedMessage"`
		ExpectObject         objectReference  `json:"expectObject"`
		DisableNameOverwrite bool             `json:"disableNameOverwrite"`
	}
	kaptestUserInfo struct {
		Name   string                                 `json:"name"`
		Groups []string                               `json:"groups"`
		Extra  map[string]authenticationv1.ExtraValue `json:"extra"`
	}
)

// kaptestExpectations maps the values of the field expect to decisions, for each kind of policy.
var kaptestExpectations = map[string]map[string]suite.Conclusion{
	cluster.ValidatingKind: {"admit": suite.Allowed, "deny": suite.Denied, "skip": suite.NoMatch, "error": suite.Error},
	cluster.MutatingKind:   {"mutate": suite.Allowed, "skip": suite.NoMatch, "error": suite.Error},
}

// kaptestNotes are notes about how kaptest differs, by the decision of the server.
var kaptestNotes = map[suite.Conclusion]string{
	suite.NoMatch:  "kaptest evaluates the expressions of a policy for any object. On a server, matchConstraints, the binding or match conditions do not match this request",
	suite.Rejected: "kaptest does not default and validate objects. A server rejects this one before policies see it",
	suite.Allowed:  "kaptest considers neither failurePolicy nor the actions of bindings. A server allows this request",
}

// Detects implements suite.Format.
func (Kaptest) Detects(_ string, content []byte) bool {
	return bytes.Contains(content, []byte("vapTestSuites:")) || bytes.Contains(content, []byte("mapTestSuites:")) ||
		bytes.Contains(content, []byte("\ntestSuites:")) && bytes.Contains(content, []byte("validatingAdmissionPolicies:"))
}

// Convert implements suite.Format.
func (Kaptest) Convert(file string) ([]*manifest.Document, error) {
	return convertEach(file, convertKaptest)
}

func convertKaptest(file string, document *manifest.Document) ([]*manifest.Document, error) {
	tests := &kaptestManifest{}
	if err := document.Decode(tests); err != nil {
		return nil, fmt.Errorf("%w\nmanifests of kaptest before 0.2 are converted by: kaptest migrate %s", err, file)
	}
	b := newBuilder(file, document, "", "")
	if tests.Version != kaptestVersion {
		b.fail("version", "unknown version %q, want %s", tests.Version, kaptestVersion)
	}
	policies := b.files("policies", tests.Policies)
	resources := b.files("resources", tests.Resources)
	definitions := b.files("crds", tests.CRDs)
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	var converted []*manifest.Document
	var errs []error
	for _, group := range []struct {
		kind, field string
		suites      []kaptestSuite
	}{{cluster.ValidatingKind, "vapTestSuites", tests.VAPTestSuites}, {cluster.MutatingKind, "mapTestSuites", tests.MAPTestSuites}} {
		suites, err := collect(group.suites, func(i int, s kaptestSuite) ([]*manifest.Document, error) {
			path := fmt.Sprintf("%s[%d]", group.field, i)
			k := &kaptestBuilder{builder: newBuilder(file, document, path, s.Policy), kind: group.kind, resources: resources}
			k.convert(path, &s, policies, definitions)
			return k.build()
		})
		converted, errs = append(converted, suites...), append(errs, err)
	}
	if len(tests.VAPTestSuites)+len(tests.MAPTestSuites) == 0 {
		b.fail("", "no tests: want vapTestSuites or mapTestSuites")
	}
	return converted, errors.Join(append(errs, b.errs...)...)
}

// A kaptestBuilder builds the suite of one policy.
type kaptestBuilder struct {
	*builder
	kind      string
	policy    *object
	bound     bool // the files of policies have a binding of the policy
	resources []*object
}

func (k *kaptestBuilder) convert(path string, tests *kaptestSuite, policies, definitions []*object) {
	if k.policy, k.bound = k.addPolicy(path, k.kind, tests.Policy, policies); k.policy == nil {
		return
	}
	for _, o := range definitions {
		k.manifest(o)
	}
	paramKind := paramKindOf(k.policy)
	for _, o := range k.resources {
		if kind := o.GroupVersionKind(); kind == paramKind || kind == namespaceKind && !k.creates(tests, o) {
			k.manifest(o)
		}
	}
	for i := range tests.Tests {
		k.test(fmt.Sprintf("%s.tests[%d]", path, i), &tests.Tests[i], paramKind)
	}
}

// creates reports whether a test creates the namespace. The cluster must not contain the namespace
// then.
func (k *kaptestBuilder) creates(tests *kaptestSuite, namespace *object) bool {
	return slices.ContainsFunc(tests.Tests, func(test kaptestTest) bool { return test.OldObject.Name == "" && test.Object.matches(namespace) })
}

func (k *kaptestBuilder) test(path string, test *kaptestTest, paramKind schema.GroupVersionKind) {
	c := suite.Case{Expect: suite.Expectation{Policy: k.policy.GetName(), Message: test.DeniedMessage}, Notes: maps.Clone(kaptestNotes)}
	known := false
	if c.Expect.Decision, known = kaptestExpectations[k.kind][test.Expect]; !known {
		k.fail(path+".expect", "unknown value %q of a test of a %s, want one of %s", test.Expect, k.kind, strings.Join(sortedKeys(kaptestExpectations[k.kind]), ", "))
		return
	}
	if test.DeniedMessage != "" && c.Expect.Decision != suite.Denied {
		k.fail(path+".deniedMessage", "has no effect unless expect is deny: remove it")
	}
	object, oldObject := k.find(path+".object", &test.Object), k.find(path+".oldObject", &test.OldObject)
	operation := "CREATE"
	switch {
	case object == nil && oldObject == nil:
		if len(k.errs) == 0 {
			k.fail(path+".object", "required: object, oldObject or both")
		}
		return
	case object == nil:
		operation = "DELETE"
	case oldObject != nil:
		operation = "UPDATE"
	}
	subject, from := cmp.Or(object, oldObject), ""
	if operation == "UPDATE" && (object.GetName() != oldObject.GetName() || object.GetNamespace() != oldObject.GetNamespace()) {
		// Tests tell resources apart by name, so the old and the new object may have different
		// names. A server rejects an update that changes the name or the namespace, so the old
		// object gets those of the new one.
		from = " from " + oldObject.GetName()
		oldObject = oldObject.clone()
		oldObject.SetName(object.GetName())
		oldObject.SetNamespace(object.GetNamespace())
	}
	k.request(&c, operation, object, oldObject)
	c.Name = fmt.Sprintf("%s %s%s: %s", operation, subject, from, test.Expect)
	c.Request.DryRun = true // as in kaptest
	if u := test.UserInfo; u != nil {
		c.Request.UserInfo = &authenticationv1.UserInfo{Username: u.Name, Groups: u.Groups, Extra: u.Extra}
	}
	k.param(path, test, paramKind, &c)
	k.expected(path, test, object, &c)
	k.add(path, path+".expect", c)
}

// find returns the resource that a reference names, or nil if it names none.
func (k *kaptestBuilder) find(path string, reference *objectReference) *object {
	if *reference == (objectReference{}) {
		return nil
	}
	if reference.Kind == "" || reference.Name == "" {
		k.fail(path, "kind and name are required")
		return nil
	}
	return k.only(path, reference, k.resources)
}

// param binds the policy to the param of a test.
func (k *kaptestBuilder) param(path string, test *kaptestTest, kind schema.GroupVersionKind, c *suite.Case) {
	switch {
	case test.Param.Name == "" && kind.Empty():
	case test.Param.Name == "":
		if !k.bound {
			k.fail(path+".param", "required: the policy has a paramKind")
		}
	case kind.Empty():
		k.fail(path+".param", "the policy has no paramKind: remove param")
	case k.bound:
		c.Name += " with param " + test.Param.Name
		c.Notes[suite.Error] = "kaptest evaluates the policy with the param of the test. A server takes the params that the binding selects"
	default:
		c.Name += " with param " + test.Param.Name
		reference := test.Param
		reference.Group, reference.Version, reference.Kind = kind.Group, kind.Version, kind.Kind
		if param := k.only(path+".param", &reference, k.resources); param != nil {
			k.caseManifest(c, newBinding(k.policy, k.kind, param))
		}
		c.Notes[suite.Error] = "kaptest finds a param in any namespace. A server looks for one without a namespace in the namespace of the request"
	}
}

// expected adds the object after mutations to the expectation of a case.
func (k *kaptestBuilder) expected(path string, test *kaptestTest, object *object, c *suite.Case) {
	expected := k.find(path+".expectObject", &test.ExpectObject)
	switch {
	case test.Expect != "mutate":
		if expected != nil {
			k.fail(path+".expectObject", "has no effect unless expect is mutate: remove it")
		}
	case expected == nil:
		k.fail(path+".expectObject", "required: expect is mutate")
	default:
		expected = expected.clone()
		if object != nil && !test.DisableNameOverwrite {
			expected.SetName(object.GetName())
		}
		c.Expect.Object = k.source(k.casePath()+".expect.object", expected)
	}
}
