// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// FromFiles returns an example made of the documents of files, with the feature gates that fields
// of its policies need. The object of the request is the first object that is neither a policy nor
// of a kind that policies look up or usually read or, if there is none, the first of a kind that
// they look up.
func FromFiles(names []string, texts [][]byte) (*Example, error) {
	example := &Example{Name: "files", Title: strings.Join(names, ", ")}
	var split []string
	for i, text := range texts {
		if _, err := manifest.Parse(names[i], text); err != nil {
			return nil, err
		}
		for _, document := range manifest.Split(text) {
			split = append(split, string(document))
		}
	}
	policies, err := example.Panes.add(split, true)
	if gates := cluster.FeatureGates(policies...); len(gates) > 0 {
		example.FeatureGates = gates
	}
	return example, err
}

// add adds each text, whose documents have one kind, to the pane for this kind, and returns the
// policies and bindings. Suites are left out. If withObject is set, one object becomes that of the
// request, as FromFiles describes.
func (p *Panes) add(texts []string, withObject bool) ([]*unstructured.Unstructured, error) {
	type part struct {
		kind schema.GroupKind
		text string
	}
	var parts []part
	var policies []*unstructured.Unstructured
	for _, text := range texts {
		documents, err := manifest.Parse("", []byte(text))
		if err != nil {
			return nil, err
		}
		if len(documents) > 0 {
			parts = append(parts, part{documents[0].GroupVersionKind().GroupKind(), text})
		}
		for _, d := range documents {
			// Objects that cannot be decoded are reported when the page is evaluated.
			if object, err := d.Object(); err == nil && object.GroupVersionKind().Group == admissionv1.GroupName {
				policies = append(policies, object)
			}
		}
	}
	params, lookedUp := readKinds(policies)
	subject := slices.IndexFunc(parts, func(part part) bool { return isSubject(part.kind) && !params[part.kind] && !lookedUp[part.kind] })
	if subject < 0 {
		subject = slices.IndexFunc(parts, func(part part) bool { return isSubject(part.kind) && !params[part.kind] })
	}
	for i, part := range parts {
		pane := &p.Manifests
		switch {
		case part.kind.Group == suite.Group:
			continue
		case cluster.IsPolicy(part.kind):
			pane = &p.Policy
		case part.kind.Group == admissionv1.GroupName && strings.HasSuffix(part.kind.Kind, "PolicyBinding"):
			pane = &p.Binding
		case part.kind.Group == rbacv1.GroupName:
			pane = &p.RBAC
		case params[part.kind]:
			pane = &p.Params
		case withObject && i == subject:
			pane = &p.Object
		}
		appendDocument(pane, part.text)
	}
	return policies, nil
}

// isSubject reports whether requests are usually about objects of the kind. They seldom are about
// objects that configure a cluster.
func isSubject(kind schema.GroupKind) bool {
	return kind != corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind() &&
		!slices.Contains([]string{apiextensionsv1.GroupName, admissionv1.GroupName, rbacv1.GroupName, suite.Group}, kind.Group)
}

// readKinds returns the kinds of the policies' params, and those that they look up.
func readKinds(policies []*unstructured.Unstructured) (params, lookedUp map[schema.GroupKind]bool) {
	params, lookedUp = map[schema.GroupKind]bool{}, map[schema.GroupKind]bool{}
	add := func(kinds map[schema.GroupKind]bool, fields map[string]any) {
		version, _, _ := unstructured.NestedString(fields, "apiVersion")
		kind, _, _ := unstructured.NestedString(fields, "kind")
		kinds[schema.FromAPIVersionAndKind(version, kind).GroupKind()] = true
	}
	for _, policy := range policies {
		paramKind, _, _ := unstructured.NestedMap(policy.Object, "spec", "paramKind")
		add(params, paramKind)
		all, _, _ := unstructured.NestedSlice(policy.Object, "spec", "lookups")
		for _, lookup := range all {
			fields, _ := lookup.(map[string]any)
			add(lookedUp, fields)
		}
	}
	return params, lookedUp
}

// appendDocument appends a document to the text of a pane.
func appendDocument(pane *string, text string) {
	text = strings.TrimLeft(strings.TrimPrefix(text, "---"), "\n")
	if text = strings.TrimRight(text, "\n") + "\n"; *pane != "" {
		text = *pane + "---\n" + text
	}
	*pane = text
}
