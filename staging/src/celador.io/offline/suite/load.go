// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// A Test is a suite that is ready to run: it is valid, and its files are read. It is immutable.
type Test struct {
	// Name is the name of the suite.
	Name string
	// Position is the place of the suite.
	Position manifest.Position
	// Suite is the decoded file. It must not be changed.
	Suite *Suite

	document *manifest.Document
	objects  []object
	cases    []testCase
}

// A testCase is a case of a Test with the objects to which it refers.
type testCase struct {
	spec    *Case
	path    string   // the field of the case in the suite
	objects []object // the manifests of the case
	request *cluster.Request
	// object and oldObject are the documents from which the request's objects were read, for the
	// positions of errors, and expectedObject is that of expect.object. Each is nil if the case has
	// none.
	object, oldObject, expectedObject *manifest.Document
	expected                          *unstructured.Unstructured // of expectedObject
	pattern                           *regexp.Regexp             // nil without messagePattern
}

// Convert returns the native form of the suites of a file, or nil if none of Formats detects the
// file. If some suites cannot be converted, it returns the others together with the errors.
func (l *Loader) Convert(file string) ([]*manifest.Document, error) {
	content, err := manifest.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if format := l.format(file, content); format != nil {
		documents, err := format.Convert(file)
		return slices.DeleteFunc(documents, func(d *manifest.Document) bool { return d == nil }), err
	}
	return nil, nil
}

// Load returns the suites of a file. Those of Formats are converted. Errors join one error for each
// problem, with its file, line and field. The suites without problems are returned together with
// the errors of others.
func (l *Loader) Load(file string) ([]*Test, error) {
	documents, err := l.Convert(file)
	if err == nil && documents == nil {
		documents, err = manifest.Read(file)
	}
	if err == nil && len(documents) == 0 {
		err = fmt.Errorf("%s: the file is empty: a suite has apiVersion: %s and kind: %s", file, APIVersion, Kind)
	}
	var tests []*Test
	errs := []error{err}
	for _, document := range documents {
		test, err := Parse(document)
		if err == nil {
			tests = append(tests, test)
		}
		errs = append(errs, err)
	}
	return tests, errors.Join(errs...)
}

// Parse returns the suite of a document. Errors join one error for each problem, with its file,
// line and field. Paths in the document are relative to the directory of its file.
func Parse(document *manifest.Document) (*Test, error) {
	if kind := document.GroupVersionKind(); kind.GroupVersion().String() != APIVersion || kind.Kind != Kind {
		return nil, document.Errorf("", "the document is not a suite, want apiVersion: %s and kind: %s. Put other objects into files that a suite lists in manifests", APIVersion, Kind)
	}
	suite := &Suite{}
	if err := document.Decode(suite); err != nil {
		return nil, err
	}
	test := &Test{Position: document.Position(""), Suite: suite, document: document}
	test.Name = cmp.Or(suite.Metadata.Name, defaultName(test.Position.File))
	l := &loader{document: document, directory: filepath.Dir(test.Position.File)}
	test.objects = l.manifests("manifests", suite.Manifests)
	if len(suite.Cases) == 0 {
		l.fail("cases", "required: a suite has at least one case")
	}
	l.checkEmpty()
	names := map[string]int{}
	for i := range suite.Cases {
		spec, path := &suite.Cases[i], fmt.Sprintf("cases[%d]", i)
		if spec.Name == "" {
			l.fail(path+".name", "required: say in a few words what the case shows")
		} else if first, found := names[spec.Name]; found {
			l.fail(path+".name", "the name %q is already the name of cases[%d]", spec.Name, first)
		} else {
			names[spec.Name] = i
		}
		test.cases = append(test.cases, l.testCase(path, spec, test.objects))
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	return test, nil
}

// checkEmpty rejects fields of requests and expectations that are present without a value. YAML
// reads a field with nothing after the colon as null, which means that nothing is compared,
// although the author may have meant an empty list.
func (l *loader) checkEmpty() {
	var suite struct {
		Cases []struct{ Request, Expect map[string]any }
	}
	if err := json.Unmarshal(l.document.Raw(), &suite); err != nil {
		l.fail("cases", "%v", err)
		return
	}
	for i, c := range suite.Cases {
		for part, fields := range sorted(map[string]map[string]any{"request": c.Request, "expect": c.Expect}) {
			for key, value := range sorted(fields) {
				if value == nil || value == "" {
					l.fail(fmt.Sprintf("cases[%d].%s.%s", i, part, key), "the field has no value: leave it out, or write [] for an empty list")
				}
			}
		}
	}
}

// defaultName returns the name of a file without its extension. For suite.yaml, it returns the name
// of the directory, so that suites in neighboring directories have different names.
func defaultName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if absolute, err := filepath.Abs(file); err == nil && name == "suite" {
		if directory := filepath.Base(filepath.Dir(absolute)); directory != string(filepath.Separator) {
			return directory
		}
	}
	return name
}

// A loader reads the files to which a suite refers, and collects the errors that it finds in the
// suite.
type loader struct {
	document  *manifest.Document
	directory string
	errs      []error
}

func (l *loader) fail(path, format string, args ...any) {
	l.check(l.document.Errorf(path, format, args...))
}

// check adds an error to the collected ones unless it is nil, and reports whether it is nil.
func (l *loader) check(err error) bool {
	if err != nil {
		l.errs = append(l.errs, err)
	}
	return err == nil
}

func (l *loader) testCase(path string, spec *Case, objects []object) testCase {
	c := testCase{spec: spec, path: path}
	for decision := range sorted(spec.Notes) {
		l.decision(fmt.Sprintf("%s.notes.%s", path, decision), decision)
	}
	if spec.Skip != "" {
		return c
	}
	c.objects = l.manifests(path+".manifests", spec.Manifests)
	c.object = l.only(path+".request.object", spec.Request.Object)
	c.oldObject = l.only(path+".request.oldObject", spec.Request.OldObject)
	c.request = l.request(path+".request", &spec.Request)
	if c.request != nil {
		c.request.Object, c.request.OldObject = l.content(c.object), l.content(c.oldObject)
	}
	l.expectation(path+".expect", &spec.Expect, overlay(objects, c.objects))
	l.patch(path+".expect.patch", spec.Expect.Patch)
	l.typeWarnings(path+".expect", &spec.Expect)
	c.expectedObject = l.only(path+".expect.object", spec.Expect.Object)
	c.expected = l.partial(c.expectedObject)
	if pattern := spec.Expect.MessagePattern; pattern != "" {
		var err error
		if c.pattern, err = regexp.Compile(pattern); err != nil {
			l.fail(path+".expect.messagePattern", "not a regular expression: %v", err)
		}
	}
	return c
}

var operations = map[string]admission.Operation{
	"CREATE": admission.Create, "UPDATE": admission.Update, "DELETE": admission.Delete, "CONNECT": admission.Connect,
}

func (l *loader) request(path string, spec *Request) *cluster.Request {
	request := &cluster.Request{
		Subresource: spec.SubResource, Namespace: spec.Namespace, Name: spec.Name, DryRun: spec.DryRun, Options: spec.Options,
	}
	request.Operation = admission.Create
	if spec.OldObject != nil {
		request.Operation = admission.Update
	}
	if spec.Operation != "" {
		known := false
		if request.Operation, known = operations[spec.Operation]; !known {
			l.fail(path+".operation", "unknown operation %q, want CREATE, UPDATE, DELETE or CONNECT", spec.Operation)
			return nil
		}
	}
	if spec.Resource != nil {
		request.Resource.Group, request.Resource.Version, request.Resource.Resource = spec.Resource.Group, spec.Resource.Version, spec.Resource.Resource
		if request.Resource.Version == "" || request.Resource.Resource == "" {
			l.fail(path+".resource", "version and resource are required, such as group: apps, version: v1, resource: deployments")
		}
	}
	if spec.Time != nil {
		if request.Time = spec.Time.Time; request.Time.IsZero() {
			l.fail(path+".time", "must be later than the year 1, such as 2026-11-28T21:30:00Z")
		}
	}
	if u := spec.UserInfo; u != nil {
		info := &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: map[string][]string{}}
		for key, values := range u.Extra {
			info.Extra[key] = values
		}
		request.UserInfo = info
	}
	l.checkObjects(path, spec, request.Operation)
	return request
}

// checkObjects checks that the request has the objects that its operation needs.
func (l *loader) checkObjects(path string, spec *Request, operation admission.Operation) {
	switch operation {
	case admission.Create:
		if spec.Object == nil {
			l.fail(path+".object", "required: a CREATE sends an object. For another request, set operation")
		}
	case admission.Update:
		if spec.Object == nil {
			l.fail(path+".object", "required: an UPDATE sends an object. For a deletion, set operation: DELETE")
		}
	case admission.Delete:
		if spec.Object != nil {
			l.fail(path+".object", "a DELETE sends no object: name the object that is deleted oldObject")
		}
		if spec.OldObject == nil && (spec.Resource == nil || spec.Name == "") {
			l.fail(path+".oldObject", "required: a DELETE without an oldObject has a resource and a name, of an object in the manifests")
		}
	case admission.Connect:
		if spec.Resource == nil || spec.SubResource == "" {
			l.fail(path+".resource", "required: a CONNECT has a resource and a subResource, such as pods and exec")
		}
	}
}

func (l *loader) expectation(path string, spec *Expectation, objects []object) {
	if spec.Decision == "" && spec.Allowed == nil && spec.Violations == nil {
		l.fail(path+".decision", "required: want Allowed, Denied, Error, NoMatch or Rejected")
		return
	}
	if spec.Decision != "" && !l.decision(path+".decision", spec.Decision) {
		return
	}
	if spec.Decision == "" && spec.Violations == nil && (spec.Policy != "" || spec.Binding != "" || spec.Validation != nil || spec.Message != "" || spec.MessagePattern != "" || spec.Reason != "") {
		l.fail(path+".allowed", "the answer to the whole request has no policy, binding, validation, message and reason: remove them, or set decision")
	}
	if spec.Violations != nil && *spec.Violations < 0 {
		l.fail(path+".violations", "must not be negative")
	}
	l.expectedPolicy(path, spec, objects)
	if spec.Message != "" && spec.MessagePattern != "" {
		l.fail(path+".messagePattern", "set either message or messagePattern")
	}
	switch spec.Decision {
	case Rejected:
		if spec.Policy != "" || spec.Binding != "" || spec.Validation != nil {
			l.fail(path+".decision", "the server rejects the request, not a policy: remove policy, binding and validation")
		}
	case NoMatch:
		if spec.Validation != nil || spec.Message != "" || spec.MessagePattern != "" || spec.Reason != "" {
			l.fail(path+".decision", "no policy applies, so there is no validation, message and reason to expect")
		}
	}
	l.contradictions(path, spec)
	if len(spec.Causes) > 0 && (spec.Allowed != nil && *spec.Allowed || spec.Decision == NoMatch && spec.Allowed == nil) {
		l.fail(path+".causes", "a request that is allowed has no causes: remove causes, or set allowed to false")
	}
	if (spec.Object != nil || spec.Patch != nil) && !mayBeAllowed(spec) {
		l.fail(path+".decision", "a request that is not allowed has no resulting object: remove object and patch")
	}
}

// decision reports whether a value of the field decision exists, and adds an error if it does not.
func (l *loader) decision(path string, decision Conclusion) bool {
	known := slices.Contains(conclusions, decision)
	if !known {
		l.fail(path, "unknown decision %q: want Allowed, Denied, Error, NoMatch or Rejected", decision)
	}
	return known
}

// mayBeAllowed reports whether the server may perform a request that meets the expectation.
func mayBeAllowed(spec *Expectation) bool {
	if spec.Allowed != nil && !*spec.Allowed {
		return false
	}
	return spec.Decision == "" || spec.Decision == Allowed || spec.Decision == NoMatch
}
