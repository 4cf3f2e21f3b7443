// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// Kubescape is the format of the tests of Kubescape's policy library
// (https://github.com/kubescape/cel-admission-library): a tests.json beside a policy.yaml. The
// directory test-resources of a parent directory has the templates of objects, bindings and params,
// and configuration beside it the CustomResourceDefinition of the params.
type Kubescape struct{}

// A kubescapeTest is an entry of tests.json.
type kubescapeTest struct {
	Name            string   `json:"name"`
	Template        string   `json:"template"`
	Expected        string   `json:"expected"`
	FieldChangeList []string `json:"field_change_list"`
	ParamTemplate   string   `json:"param_template"`
	BindingTemplate string   `json:"binding_template"`
	OmitParamRef    bool     `json:"omit_param_ref"`
	// Remarks, which the runner does not read.
	Comment     any `json:"comment"`
	Description any `json:"description"`
}

// The values of the field expected. fail means that the policy denies the request: other rejections
// by the server, which older runners accept, do not count, so that no test passes without the
// policy. warn means that the server admits the request with a warning of the policy.
const (
	kubescapePass = "pass"
	kubescapeFail = "fail"
	kubescapeWarn = "warn"
)

// The files and the directory that the runner of the library reads without being named in a test.
const (
	kubescapeTests      = "tests.json"
	kubescapePolicy     = "policy.yaml"
	kubescapeResources  = "test-resources"
	kubescapeBinding    = "policy-binding.yaml"
	kubescapeParam      = "default-control-configuration.yaml"
	kubescapeDefinition = "policy-configuration-definition.yaml"
)

// Detects implements suite.Format.
func (Kubescape) Detects(file string, content []byte) bool {
	return filepath.Base(file) == kubescapeTests && bytes.HasPrefix(bytes.TrimSpace(content), []byte("[")) &&
		bytes.Contains(content, []byte(`"template"`)) && bytes.Contains(content, []byte(`"expected"`))
}

// Convert implements suite.Format.
func (Kubescape) Convert(file string) ([]*manifest.Document, error) {
	documents, err := manifest.Read(file)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("%s: %d documents, want a JSON array of tests", file, len(documents))
	}
	var tests []kubescapeTest
	if err := documents[0].Decode(&tests); err != nil {
		return nil, err
	}
	k := &kubescapeSuite{builder: newBuilder(file, documents[0], "", "")}
	if !k.open() {
		return nil, errors.Join(k.errs...)
	}
	var errs []error
	for i := range tests {
		cases := len(k.suite.Cases)
		if k.test(fmt.Sprintf("[%d]", i), &tests[i]); len(k.errs) > 0 {
			k.suite.Cases = k.suite.Cases[:cases]
			errs, k.errs = append(errs, k.errs...), nil
		}
	}
	if len(errs) > 0 && (k.incomplete || len(k.suite.Cases) == 0) {
		return nil, errors.Join(errs...)
	}
	documents, err = k.build()
	return documents, errors.Join(append(errs, err)...)
}

// A kubescapeSuite builds the suite of a tests.json.
type kubescapeSuite struct {
	*builder
	resources string // the directory of the templates
	// definition is the file with the CustomResourceDefinition of the params. Empty if there is
	// none.
	definition string
	policy     *object
	hasParams  bool // the policy has a paramKind
	// shared holds the templates whose object is among the manifests of the suite. incomplete is
	// set if one of them could not be added. The suite is not converted then.
	shared     map[string]bool
	incomplete bool
	// definitions are the CustomResourceDefinitions among the templates that are not among the
	// manifests of the suite yet. Nil before they are read.
	definitions map[schema.GroupKind]*object
}

// open reads the policy, and adds it to the suite with the CustomResourceDefinition of its params.
func (k *kubescapeSuite) open() bool {
	objects := k.objects("", k.path(kubescapePolicy))
	if len(objects) == 0 {
		if len(k.errs) == 0 {
			k.fail("", "%s has no policy", k.path(kubescapePolicy))
		}
		return false
	}
	k.policy = objects[0]
	_, k.hasParams, _ = unstructured.NestedMap(k.policy.Object, "spec", "paramKind")
	k.shared = map[string]bool{}
	k.suite.Manifests = append(k.suite.Manifests, suite.Manifest{Path: kubescapePolicy})
	directory, err := filepath.Abs(filepath.Dir(k.file))
	if err != nil {
		k.fail("", "%v", err)
		return false
	}
	k.suite.Metadata.Name = filepath.Base(directory) // all files have the same name
	relative := ""
	for {
		if info, err := os.Stat(filepath.Join(directory, kubescapeResources)); err == nil && info.IsDir() {
			break
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			k.fail("", "neither %s nor a parent has a directory %s with the templates", filepath.Dir(k.file), kubescapeResources)
			return false
		}
		directory, relative = parent, filepath.Join("..", relative)
	}
	k.resources = filepath.Join(filepath.Dir(k.file), relative, kubescapeResources)
	definition := filepath.Join(relative, "configuration", kubescapeDefinition)
	if _, err := os.Stat(k.path(definition)); err == nil {
		k.definition = k.path(definition)
		k.suite.Manifests = append(k.suite.Manifests, suite.Manifest{Path: filepath.ToSlash(definition)})
	}
	return true
}

// template returns the objects of a template that the field at a path names.
func (k *kubescapeSuite) template(path, name string) []*object {
	return k.objects(path, filepath.Join(k.resources, name))
}

func (k *kubescapeSuite) test(path string, test *kubescapeTest) {
	switch {
	case test.Name == "":
		k.fail(path+".name", "required: a name for the results")
	case test.Template == "":
		k.fail(path+".template", "required: a file in %s", k.resources)
		return
	case !slices.Contains([]string{kubescapePass, kubescapeFail, kubescapeWarn}, test.Expected):
		k.fail(path+".expected", "unknown value %q, want %s, %s or %s", test.Expected, kubescapePass, kubescapeFail, kubescapeWarn)
		return
	}
	objects := k.template(path+".template", test.Template)
	matching := slices.DeleteFunc(slices.Clone(objects), func(o *object) bool { return !k.mayMatch(o) })
	switch {
	case len(objects) < 2:
		matching = objects
	case len(test.FieldChangeList) > 0:
		k.fail(path+".field_change_list", "%s has %d objects: only one can be changed. Write a file for each object", test.Template, len(objects))
		return
	case test.Expected != kubescapePass && len(matching) != 1:
		k.fail(path+".template", "%s has %d objects that the policy may match: one of them is expected to %s, but not which. Write a file for each object",
			test.Template, len(matching), test.Expected)
		return
	}
	for i, o := range objects {
		c := suite.Case{Name: test.Name}
		if len(objects) > 1 {
			c.Name += fmt.Sprintf(" [%d]", i)
		}
		for j, change := range test.FieldChangeList {
			from := fmt.Sprintf("%s.field_change_list[%d]", path, j)
			changed, err := changeField(o.Object, change)
			if err != nil {
				k.fail(from, "the change %q is not possible: %v", change, err)
			} else if changed != "" {
				k.origins[manifest.Member(k.casePath()+".request.object", changed)] = manifest.Origin{Document: k.document, Path: from}
			}
		}
		k.applied(o)
		k.define(o)
		c.Request.DryRun = true
		k.request(&c, "", o, k.initial(o))
		k.bind(path, test, &c)
		expected := test.Expected
		if !slices.Contains(matching, o) {
			expected = kubescapePass
		}
		k.expect(expected, &c)
		k.add(path, path+".expected", c)
	}
}

// expect sets the expectation and the notes of a case.
func (k *kubescapeSuite) expect(expected string, c *suite.Case) {
	switch expected {
	case kubescapePass:
		c.Expect.Allowed = new(true)
		c.Notes = map[suite.Conclusion]string{suite.NoMatch: "no policy applies. The tests of Kubescape's library pass whenever the server performs the request"}
	case kubescapeFail:
		// With allowed set, an object that the server cannot decode fails the case. Otherwise it
		// would be an error in the suite.
		c.Expect.Decision, c.Expect.Allowed = suite.Denied, new(false)
		c.Notes = map[suite.Conclusion]string{
			suite.Rejected: "the server rejects the object itself, before policies see it. Older runners of Kubescape's library take any rejection for the expected one",
			suite.Error:    "the policy cannot be evaluated. The tests of Kubescape's library take any rejection by the policy for the expected one",
		}
	case kubescapeWarn:
		// The policy must give at least one warning, with any text.
		c.Expect.Decision, c.Expect.MessagePattern = suite.Allowed, anyMessage
	}
}

// applied adds the annotation last-applied-configuration to an object. The runner sends objects
// with kubectl apply, which sets it, and policies may read it.
func (k *kubescapeSuite) applied(o *object) {
	metadata, ok := o.Object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		o.Object["metadata"] = metadata
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok && metadata["annotations"] != nil {
		return // the server rejects the object
	}
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	configuration, err := json.Marshal(o.Object)
	k.check(err)
	annotations[corev1.LastAppliedConfigAnnotation] = string(configuration) + "\n"
}

// bind adds the binding and the param of a test. Those that tests have by default become manifests
// of the suite, and others manifests of the case.
func (k *kubescapeSuite) bind(path string, test *kubescapeTest, c *suite.Case) {
	name := k.policy.GetName()
	for _, part := range []struct {
		field, template, standard string
		required                  bool
		// own is set if the object differs from that of other cases, so that it becomes a manifest
		// of the case.
		own     bool
		changes func(*object) []string
	}{
		{"binding_template", test.BindingTemplate, kubescapeBinding, true, test.OmitParamRef, func(binding *object) []string {
			changes := []string{"spec.policyName=" + name, "metadata.name=" + name + "-binding"}
			// A policy without paramKind ignores a paramRef.
			if _, found, _ := unstructured.NestedMap(binding.Object, "spec", "paramRef"); !test.OmitParamRef && (found || k.hasParams) {
				changes = append(changes, "spec.paramRef.name="+name+"-params")
			}
			return changes
		}},
		{"param_template", test.ParamTemplate, kubescapeParam, k.hasParams, false, func(*object) []string {
			return []string{"metadata.name=" + name + "-params"}
		}},
	} {
		own := part.template != "" || part.own
		part.template = cmp.Or(part.template, part.standard)
		if !own {
			if k.shared[part.template] {
				continue
			}
			k.shared[part.template] = true
			if _, err := os.Stat(filepath.Join(k.resources, part.template)); err != nil && !part.required {
				continue
			}
		}
		failed := len(k.errs)
		objects := k.template(manifest.Member(path, part.field), part.template)
		if len(objects) > 1 {
			k.fail(manifest.Member(path, part.field), "%s has %d objects, want 1", part.template, len(objects))
			objects = nil
		}
		for _, o := range objects {
			k.define(o)
			for _, change := range part.changes(o) {
				if _, err := changeField(o.Object, change); err != nil {
					k.fail(manifest.Member(path, part.field), "%s: the change %q is not possible: %v", part.template, change, err)
				}
			}
			if own {
				k.caseManifest(c, o)
			} else {
				k.manifest(o)
			}
		}
		k.incomplete = k.incomplete || !own && len(k.errs) > failed
	}
}
