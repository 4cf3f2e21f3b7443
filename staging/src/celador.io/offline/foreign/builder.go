// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// A builder makes a native suite from the suite of another tool. It collects the values of the
// native suite, errors, and for each value the field of another document from which it derives, so
// that errors about the value have the position of this field.
type builder struct {
	document *manifest.Document // the suite of the other tool, or the document that it is a part of
	file     string
	suite    suite.Suite
	origins  map[string]manifest.Origin
	names    map[string]int // the number of cases by the name that they have in the other tool
	errs     []error
	// outdated is the API version of a policy or binding of the suite that servers do not serve by
	// default, such as v1beta1, or empty. The notes of the cases mention it, because such a policy
	// does nothing on a server.
	outdated string
}

// newBuilder returns a builder for the suite at a path of a document.
func newBuilder(file string, document *manifest.Document, path, name string) *builder {
	return &builder{
		document: document, file: file,
		suite: suite.Suite{
			TypeMeta: metav1.TypeMeta{APIVersion: suite.APIVersion, Kind: suite.Kind}, Metadata: suite.Metadata{Name: name},
			Manifests: []suite.Manifest{}, Cases: []suite.Case{},
		},
		origins: map[string]manifest.Origin{"": {Document: document, Path: path}},
		names:   map[string]int{},
	}
}

// fail adds an error about the field at a path of the suite.
func (b *builder) fail(path, format string, args ...any) {
	b.failAt(b.document, path, format, args...)
}

// failAt adds an error about the field at a path of another document.
func (b *builder) failAt(document *manifest.Document, path, format string, args ...any) {
	b.errs = append(b.errs, document.Errorf(path, format, args...))
}

// check adds an error unless it is nil, and reports whether it is nil.
func (b *builder) check(err error) bool {
	if err != nil {
		b.errs = append(b.errs, err)
	}
	return err == nil
}

// remote matches the names of files that other tools read from the network: URLs and Git
// repositories.
var remote = regexp.MustCompile(`^([a-z+]+://|git@)`)

// path returns the path of a file that the suite names. If remote matches the name, path returns it
// unchanged.
func (b *builder) path(name string) string {
	if filepath.IsAbs(name) || remote.MatchString(name) {
		return name
	}
	return filepath.Join(filepath.Dir(b.file), name)
}

// read returns the objects of a file that the field at a path names, and adds an error if it
// cannot.
func (b *builder) read(path, file string) []*manifest.Document {
	if remote.MatchString(file) {
		b.fail(path, "%s is a URL, and a run reads no network: download it and name the file", file)
		return nil
	}
	documents, err := manifest.Read(file)
	if err != nil {
		b.fail(path, "%v", err)
		return nil
	}
	var items []*manifest.Document
	for item, err := range manifest.Items(documents) {
		if b.check(err) {
			items = append(items, item)
		}
	}
	return items
}

// readOne returns the object of a file as read does. It returns nil and adds an error if the file
// does not have exactly one object.
func (b *builder) readOne(path, file string) *manifest.Document {
	failed := len(b.errs)
	documents := b.read(path, b.path(file))
	switch {
	case len(documents) == 1:
		return documents[0]
	case len(b.errs) == failed:
		b.fail(path, "the file %s has %d objects, want 1", file, len(documents))
	}
	return nil
}

// objects returns the objects of a file as read does.
func (b *builder) objects(path, file string) []*object {
	var objects []*object
	for _, document := range b.read(path, file) {
		if o := b.decoded(document); o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// An object is an object together with the document from which it was made.
type object struct {
	*unstructured.Unstructured
	origin *manifest.Document
}

// decoded returns the object of a document, or nil and an error in the builder.
func (b *builder) decoded(document *manifest.Document) *object {
	content, err := document.Object()
	if !b.check(err) {
		return nil
	}
	return &object{content, document}
}

// source returns the value of the field at a path of the native suite: the object itself, inline.
// It records the document of the object as the origin of the value, so that errors about the value
// have the position there. It returns nil if there is no object.
func (b *builder) source(path string, o *object) *suite.Manifest {
	if o == nil {
		return nil
	}
	inline, err := json.Marshal(o.Object)
	if err != nil {
		b.fail("", "%v", err)
	}
	b.origins[path] = manifest.Origin{Document: o.origin}
	return &suite.Manifest{Inline: inline}
}

// manifest adds an object to the manifests of the suite. The other tools accept policies and
// bindings in any version. The fields are the same in all of them, so the suite has v1.
func (b *builder) manifest(o *object) {
	if kind := o.GroupVersionKind(); kind.Group == admissionv1.GroupName && kind.Version != admissionv1.SchemeGroupVersion.Version {
		b.outdated = kind.Version
		o = o.clone()
		o.SetAPIVersion(admissionv1.SchemeGroupVersion.String())
	}
	b.suite.Manifests = append(b.suite.Manifests, *b.source(fmt.Sprintf("manifests[%d]", len(b.suite.Manifests)), o))
}

// casePath returns the path of the case that add or append will append next.
func (b *builder) casePath() string { return fmt.Sprintf("cases[%d]", len(b.suite.Cases)) }

// caseManifest adds an object to the manifests of the case that is appended next.
func (b *builder) caseManifest(c *suite.Case, o *object) {
	c.Manifests = append(c.Manifests, *b.source(fmt.Sprintf("%s.manifests[%d]", b.casePath(), len(c.Manifests)), o))
}

// request sets the operation and the objects of the request of the case that is appended next. An
// object may be nil.
func (b *builder) request(c *suite.Case, operation string, o, old *object) {
	at := b.casePath() + ".request"
	c.Request.Operation = operation
	c.Request.Object, c.Request.OldObject = b.source(at+".object", o), b.source(at+".oldObject", old)
}

// skip appends a case that is not run.
func (b *builder) skip(path, name, reason string) {
	b.append(path, suite.Case{Name: name, Skip: reason})
}

// add appends a case. path is the field from which it derives, and expect the field from which its
// expectation derives. Notes explain decisions other than the expected one. Results show them also
// for cases that pass, so add removes the note about the expected decision.
func (b *builder) add(path, expect string, c suite.Case) {
	b.origins[b.casePath()+".expect"] = manifest.Origin{Document: b.document, Path: expect}
	c.Notes = maps.Clone(c.Notes)
	delete(c.Notes, c.Expect.Decision)
	b.append(path, c)
}

// append appends a case. If another case has its name, it appends a number to the name.
func (b *builder) append(path string, c suite.Case) {
	b.origins[b.casePath()] = manifest.Origin{Document: b.document, Path: path}
	b.names[c.Name]++
	if number := b.names[c.Name]; number > 1 {
		c.Name = fmt.Sprintf("%s (%d)", c.Name, number)
	}
	if b.outdated != "" && c.Skip == "" {
		notes := map[suite.Conclusion]string{}
		for _, decision := range suite.Conclusions() {
			notes[decision] = strings.TrimPrefix(c.Notes[decision]+". "+fmt.Sprintf(
				"The policy is of version %s, which a server does not serve by default: apply it in v1, as this case does", b.outdated), ". ")
		}
		c.Notes = notes
	}
	b.suite.Cases = append(b.suite.Cases, c)
}

// build returns the native suite, or the errors. The result has one document.
func (b *builder) build() ([]*manifest.Document, error) {
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	native, err := manifest.New(b.suite, b.origins)
	return []*manifest.Document{native}, err
}
