// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"errors"
	"fmt"

	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// A PageState is the state of the page.
type PageState struct {
	Panes Panes `json:"panes"`
	// FeatureGates holds the values of feature gates by name. Gates that are not in it have their
	// defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// Panes are the texts of the page, which are YAML or JSON. Each may be empty.
type Panes struct {
	// Policy, Binding, Params, RBAC and Manifests have objects of the cluster, in any number. What
	// their names say is only a suggestion: each may have objects of any type.
	Policy    string `json:"policy"`
	Binding   string `json:"binding"`
	Params    string `json:"params"`
	RBAC      string `json:"rbac"`
	Manifests string `json:"manifests"`
	// Object and OldObject are the objects of the request.
	Object    string `json:"object"`
	OldObject string `json:"oldObject"`
	// Request has the other fields of a suite.Request.
	Request string `json:"request"`
}

// These are the names of the panes of the request, as in the JSON form.
const (
	objectPane    = "object"
	oldObjectPane = "oldObject"
	requestPane   = "request"
)

// A pane is a text with its name.
type pane struct{ name, text string }

// cluster returns the panes with objects of the cluster.
func (p *Panes) cluster() []pane {
	return []pane{{"policy", p.Policy}, {"binding", p.Binding}, {"params", p.Params}, {"rbac", p.RBAC}, {"manifests", p.Manifests}}
}

// maxDocuments is the maximum size of all documents as JSON, in bytes. API servers accept requests
// up to this size. It is checked because aliases let a short text stand for a long document.
const maxDocuments = 3 << 20

// A reader makes a suite of the texts in the panes, and collects errors.
type reader struct {
	// value is the suite, and origins holds the places in the panes from which its values derive.
	value   map[string]any
	origins map[string]manifest.Origin
	size    int
	errs    []error
}

// test returns a test whose only case sends the request. Without a request, the case is skipped. In
// errors, positions have the name of the pane in place of a file.
func (p *Panes) test() (*suite.Test, error) {
	r := &reader{origins: map[string]manifest.Origin{}}
	manifests := []any{}
	for _, pane := range p.cluster() {
		for _, document := range r.documents(pane) {
			// In a suite, a string would be the path of a file, so only objects are accepted.
			if content, err := document.Object(); r.check(err) {
				r.origins[fmt.Sprintf("manifests[%d]", len(manifests))] = manifest.Origin{Document: document}
				manifests = append(manifests, content.Object)
			}
		}
	}
	r.value = map[string]any{
		"apiVersion": suite.APIVersion, "kind": suite.Kind, "metadata": map[string]any{"name": "playground"},
		"manifests": manifests, "cases": []any{r.testCase(p)},
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	document, err := manifest.New(r.value, r.origins)
	if err != nil {
		return nil, err
	}
	return suite.Parse(document)
}

// testCase returns the case that sends the request.
func (r *reader) testCase(p *Panes) map[string]any {
	const path = "cases[0]"
	// A suite must state an expectation. The playground does not compare it.
	result := map[string]any{"name": "request", "expect": map[string]any{"allowed": true}}
	request, object, old := r.document(pane{requestPane, p.Request}), r.document(pane{objectPane, p.Object}), r.document(pane{oldObjectPane, p.OldObject})
	fields := map[string]any{}
	switch {
	case request != nil:
		r.origins[""] = manifest.Origin{Document: request}
		r.check(request.Decode(&fields))
		for _, name := range []string{objectPane, oldObjectPane} {
			if _, found := fields[name]; found {
				r.check(request.Errorf(name, "has a pane of its own"))
			}
		}
	case object != nil:
		r.origins[""] = manifest.Origin{Document: object}
	case old != nil:
		r.origins[""] = manifest.Origin{Document: old}
	default:
		empty, err := manifest.Parse(requestPane, []byte("{}"))
		if !r.check(err) {
			return result
		}
		r.origins[""] = manifest.Origin{Document: empty[0]}
		result["skip"] = "there is no request"
		return result
	}
	result["request"] = fields
	r.origins[path+".request"] = r.origins[""]
	for _, of := range []struct {
		name     string
		document *manifest.Document
	}{{objectPane, object}, {oldObjectPane, old}} {
		if of.document == nil {
			continue
		}
		if content, err := of.document.Object(); r.check(err) {
			fields[of.name] = content.Object
			r.origins[path+".request."+of.name] = manifest.Origin{Document: of.document}
		}
	}
	return result
}

// check adds an error unless it is nil, and reports whether it is nil.
func (r *reader) check(err error) bool {
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return err == nil
}

// document returns the only document of a pane, or nil if there is none or an error.
func (r *reader) document(p pane) *manifest.Document {
	documents := r.documents(p)
	switch len(documents) {
	case 0:
		return nil
	case 1:
		return documents[0]
	}
	r.check(documents[1].Errorf("", "the pane has %d documents, want 1", len(documents)))
	return nil
}

// documents returns the documents of a pane, and the items of lists one by one.
func (r *reader) documents(p pane) []*manifest.Document {
	documents, err := manifest.Parse(p.name, []byte(p.text))
	r.check(err)
	var items []*manifest.Document
	for _, document := range documents {
		if r.size += len(document.Raw()); r.size > maxDocuments {
			r.check(document.Errorf("", "the documents of all panes have more than %d bytes as JSON", maxDocuments))
			return nil
		}
		expanded, err := document.Items()
		r.check(err)
		for _, item := range expanded {
			if path, found := wideField(item); found {
				r.check(item.Errorf(path, "has more than %d entries", maxEntries))
				return nil
			}
		}
		items = append(items, expanded...)
	}
	return items
}
