// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// Kyverno is the format of the tests of the Kyverno CLI (https://kyverno.io/docs/kyverno-cli).
// Results about ValidatingAdmissionPolicies and MutatingAdmissionPolicies become cases; those about
// policies of Kyverno are skipped.
type Kyverno struct{}

type (
	kyvernoTest struct {
		APIVersion       string          `json:"apiVersion"`
		Kind             string          `json:"kind"`
		Metadata         map[string]any  `json:"metadata"`
		Name             string          `json:"name"`
		Policies         []string        `json:"policies"`
		Resources        []string        `json:"resources"`
		ParamResources   []string        `json:"paramResources"`
		Variables        string          `json:"variables"`
		Values           json.RawMessage `json:"values"`
		UserInfo         string          `json:"userinfo"`
		Results          []kyvernoResult `json:"results"`
		TargetResources  []string        `json:"targetResources"`
		Context          string          `json:"context"`
		JSONPayload      string          `json:"jsonPayload"`
		JSONPayloads     []string        `json:"jsonPayloads"`
		Exceptions       []string        `json:"exceptions"`
		ClusterResources []string        `json:"clusterResources"`
		Checks           []any           `json:"checks"`
	}
	kyvernoResult struct {
		Policy                      string            `json:"policy"`
		Rule                        string            `json:"rule"`
		IsValidatingAdmissionPolicy bool              `json:"isValidatingAdmissionPolicy"`
		IsMutatingAdmissionPolicy   bool              `json:"isMutatingAdmissionPolicy"`
		IsValidatingPolicy          bool              `json:"isValidatingPolicy"`
		IsMutatingPolicy            bool              `json:"isMutatingPolicy"`
		IsDeletingPolicy            bool              `json:"isDeletingPolicy"`
		IsGeneratingPolicy          bool              `json:"isGeneratingPolicy"`
		IsImageValidatingPolicy     bool              `json:"isImageValidatingPolicy"`
		IsImageVerificationPolicy   bool              `json:"isImageVerificationPolicy"`
		Result                      string            `json:"result"`
		Status                      string            `json:"status"`
		Kind                        string            `json:"kind"`
		Namespace                   string            `json:"namespace"`
		Operation                   string            `json:"operation"`
		Resource                    string            `json:"resource"`
		Resources                   []string          `json:"resources"`
		ResourceSpecs               []objectReference `json:"resourceSpecs"`
		PatchedResource             string            `json:"patchedResource"`
		PatchedResources            string            `json:"patchedResources"`
		GeneratedResource           string            `json:"generatedResource"`
		CloneSourceResource         string            `json:"cloneSourceResource"`
	}
	// kyvernoValues holds the parts of a values file that affect native policies.
	kyvernoValues struct {
		GlobalValues      map[string]any `json:"globalValues"`
		NamespaceSelector []struct {
			Name   string         `json:"name"`
			Labels map[string]any `json:"labels"`
		} `json:"namespaceSelector"`
		Namespaces   []map[string]any `json:"namespaces"`
		Subresources []any            `json:"subresources"`
	}
)

// kyvernoExpectations maps the values of the field result to decisions.
var kyvernoExpectations = map[string]suite.Conclusion{"pass": suite.Allowed, "fail": suite.Denied, "skip": suite.NoMatch, "error": suite.Error}

// kyvernoOperations are the operations that the Kyverno CLI simulates.
var kyvernoOperations = []string{"CREATE", "UPDATE", "DELETE"}

const wantKyvernoOperation = "want CREATE, UPDATE or DELETE: write native cases for other operations"

// kyvernoNotes are notes about how the Kyverno CLI differs, by the decision of the server.
var kyvernoNotes = map[suite.Conclusion]string{
	suite.NoMatch:  "the Kyverno CLI takes a policy that does not match for one that passes. On a server, no policy applies to this request",
	suite.Rejected: "the Kyverno CLI does not default and validate objects. A server rejects this one before policies see it",
	suite.Allowed:  "a server allows this request: the validations hold, or the binding only warns or audits, which is a failure for the Kyverno CLI",
}

// Tests of Chainsaw also have the kind Test, but another group.
var (
	kyvernoGroup = regexp.MustCompile(`(?m)^apiVersion: ["']?(cli\.)?kyverno\.io/`)
	kyvernoKind  = regexp.MustCompile(`(?m)^kind: ["']?Test["']?\s*$`)
)

// Detects implements suite.Format.
func (Kyverno) Detects(_ string, content []byte) bool {
	return kyvernoGroup.Match(content) && kyvernoKind.Match(content) ||
		bytes.Contains(content, []byte("\nresults:")) && bytes.Contains(content, []byte("AdmissionPolicy: true"))
}

// Convert implements suite.Format.
func (Kyverno) Convert(file string) ([]*manifest.Document, error) {
	return convertEach(file, convertKyverno)
}

func convertKyverno(file string, document *manifest.Document) ([]*manifest.Document, error) {
	test := &kyvernoTest{}
	if err := document.Decode(test); err != nil {
		return nil, err
	}
	name, _ := test.Metadata["name"].(string)
	k := &kyvernoSuite{builder: newBuilder(file, document, "", cmp.Or(name, test.Name)), spec: test}
	k.convert()
	return k.build()
}

// A kyvernoSuite builds the suite of a test.
type kyvernoSuite struct {
	*builder
	spec                *kyvernoTest
	policies, resources []*object
	operation           string
	user                *authenticationv1.UserInfo
}

func (k *kyvernoSuite) convert() {
	if !slices.ContainsFunc(k.spec.Results, func(r kyvernoResult) bool { return r.kind() != "" }) {
		k.fail("results", "no result has isValidatingAdmissionPolicy or isMutatingAdmissionPolicy: policies of Kyverno are not supported, run this test with the Kyverno CLI")
		return
	}
	if len(k.spec.Checks) > 0 {
		k.fail("checks", "not supported: write the results about native policies to results, and the other checks to a test of their own")
	}
	if len(k.spec.Exceptions) > 0 {
		k.fail("exceptions", "native policies have no exceptions, as in the Kyverno CLI: move the results about native policies to a test without exceptions")
	}
	k.policies, k.resources = k.files("policies", k.spec.Policies), k.files("resources", k.spec.Resources)
	for _, o := range k.files("paramResources", k.spec.ParamResources) {
		k.manifest(o)
	}
	k.clusterResources()
	k.values()
	k.userInfo()
	added := map[string]bool{}
	for i := range k.spec.Results {
		k.result(fmt.Sprintf("results[%d]", i), &k.spec.Results[i], added)
	}
}

// kind returns the kind of the policy of a result, or an empty string if it is one of Kyverno.
func (r *kyvernoResult) kind() string {
	switch {
	case r.IsValidatingAdmissionPolicy:
		return cluster.ValidatingKind
	case r.IsMutatingAdmissionPolicy:
		return cluster.MutatingKind
	}
	return ""
}

// values reads the namespaces and the operation from the values of the test.
func (k *kyvernoSuite) values() {
	document, path, raw := k.document, "values.", []byte(k.spec.Values)
	if k.spec.Variables != "" {
		if document = k.readOne("variables", k.spec.Variables); document == nil {
			return
		}
		path, raw = "", document.Raw()
	}
	if len(raw) == 0 {
		return
	}
	values := &kyvernoValues{}
	if err := json.Unmarshal(raw, values); err != nil {
		k.failAt(document, path, "%v", err)
		return
	}
	if len(values.Subresources) > 0 {
		k.failAt(document, path+"subresources", "not supported: write native cases with subResource")
	}
	for i, selector := range values.NamespaceSelector {
		k.namespace(document, fmt.Sprintf("%snamespaceSelector[%d]", path, i), map[string]any{"metadata": map[string]any{"name": selector.Name, "labels": selector.Labels}})
	}
	for i, namespace := range values.Namespaces {
		k.namespace(document, fmt.Sprintf("%snamespaces[%d]", path, i), namespace)
	}
	if operation, found := values.GlobalValues["request.operation"]; found {
		if k.operation, _ = operation.(string); !slices.Contains(kyvernoOperations, k.operation) {
			k.failAt(document, path+"globalValues[request.operation]", wantKyvernoOperation)
		}
	}
}

func (k *kyvernoSuite) namespace(document *manifest.Document, path string, content map[string]any) {
	content["apiVersion"], content["kind"] = namespaceKind.Version, namespaceKind.Kind
	raw, err := json.Marshal(content)
	if !k.check(err) {
		return
	}
	if o := k.decoded(document.Field(path, raw)); o != nil {
		k.manifest(o)
	}
}

// userInfo reads the user of the requests. Roles have no effect on native policies.
func (k *kyvernoSuite) userInfo() {
	if k.spec.UserInfo == "" {
		return
	}
	for _, document := range k.read("userinfo", k.path(k.spec.UserInfo)) {
		var info struct {
			UserInfo *authenticationv1.UserInfo `json:"userInfo"`
		}
		if err := json.Unmarshal(document.Raw(), &info); err != nil || info.UserInfo == nil {
			k.failAt(document, "userInfo", "required: username and groups")
			continue
		}
		k.user = info.UserInfo
	}
}

func (k *kyvernoSuite) result(path string, result *kyvernoResult, added map[string]bool) {
	kind := result.kind()
	if kind == "" {
		k.skip(path, strings.Join(slices.DeleteFunc([]string{result.Policy, result.Rule, result.Kind, result.Resource}, func(s string) bool { return s == "" }), " "),
			"the result is about a policy of Kyverno. Only those with isValidatingAdmissionPolicy or isMutatingAdmissionPolicy are about native policies")
		return
	}
	if id := kind + "/" + result.Policy; !added[id] {
		if policy, _ := k.addPolicy(path, kind, result.Policy, k.policies); policy == nil {
			return
		}
		added[id] = true
	}
	wanted, patched := cmp.Or(result.Result, result.Status), cmp.Or(result.PatchedResources, result.PatchedResource)
	decision, known := kyvernoExpectations[wanted]
	if !known {
		k.fail(path+".result", "%q is not supported, want one of %s", wanted, strings.Join(sortedKeys(kyvernoExpectations), ", "))
		return
	}
	if patched != "" && decision != suite.Allowed {
		k.fail(path+".patchedResources", "needs result: pass, since a request that is not allowed has no resulting object")
		return
	}
	var expected []*object
	if patched != "" {
		expected = k.objects(path+".patchedResources", k.path(patched))
	}
	operation := cmp.Or(result.Operation, k.operation)
	if result.Operation != "" && !slices.Contains(kyvernoOperations, operation) {
		k.fail(path+".operation", wantKyvernoOperation)
		return
	}
	if operation == "DELETE" && patched != "" {
		k.fail(path+".patchedResources", "a DELETE has no resulting object, and mutating policies do not apply to it")
		return
	}
	for _, o := range k.subjects(path, result) {
		k.testCase(path, kind+"/"+result.Policy, wanted, operation, o, decision, expected, patched != "")
	}
}

// subjects returns the resources that a result is about.
func (k *kyvernoSuite) subjects(path string, result *kyvernoResult) []*object {
	_, kind := cutLast(result.Kind)
	references := slices.Clone(result.ResourceSpecs)
	for i := range references {
		references[i].Kind = cmp.Or(references[i].Kind, kind)
	}
	names := result.Resources
	if len(names) == 0 && result.Resource != "" {
		names = []string{result.Resource}
	}
	for _, resource := range names {
		namespace, name := cutLast(resource)
		references = append(references, objectReference{Kind: kind, Namespace: cmp.Or(namespace, result.Namespace), Name: name})
	}
	if len(references) == 0 {
		references = []objectReference{{Kind: kind, Namespace: result.Namespace}}
	}
	var found []*object
	for i := range references {
		matching := references[i].in(k.resources)
		if len(matching) == 0 {
			k.fail(path+".resources", "no object of the files in resources has the kind %s and the name %q", references[i].Kind, references[i].Name)
		}
		found = append(found, matching...)
	}
	return found
}

// cutLast cuts text around its last slash.
func cutLast(text string) (before, after string) {
	i := strings.LastIndex(text, "/")
	return text[:max(i, 0)], text[i+1:]
}

// testCase adds the case of a result about one object.
func (k *kyvernoSuite) testCase(path, policy, wanted, operation string, o *object, decision suite.Conclusion, expected []*object, patched bool) {
	_, name := cutLast(policy)
	c := suite.Case{
		Name:    fmt.Sprintf("%s %s: %s", name, o, wanted),
		Request: suite.Request{UserInfo: k.user},
		Expect:  suite.Expectation{Decision: decision, Policy: policy},
		Notes:   kyvernoNotes,
	}
	switch operation {
	case "DELETE":
		k.request(&c, operation, nil, o)
	case "UPDATE":
		k.request(&c, operation, o, o)
	default:
		k.request(&c, operation, o, nil)
	}
	if patched {
		reference := objectReference{Kind: o.GroupVersionKind().Kind, Name: o.GetName(), Namespace: o.GetNamespace()}
		if e := k.only(path+".patchedResources", &reference, expected); e != nil {
			c.Expect.Object = k.source(k.casePath()+".expect.object", e)
		}
	}
	k.add(path, path+".result", c)
}
