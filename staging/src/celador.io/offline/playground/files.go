// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
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

// FromFiles returns an example made of the documents of files. The object of the request is the
// first object that is neither a policy nor of a kind that policies usually read.
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
	return example, example.Panes.add(split, true)
}

// add adds each text, whose documents have one kind, to the pane for this kind. Suites are left
// out. If withObject is set, the first object that is neither a policy nor of a kind that policies
// usually read becomes the object of the request.
func (p *Panes) add(texts []string, withObject bool) error {
	type part struct {
		kind schema.GroupKind
		text string
	}
	var parts []part
	params := map[schema.GroupKind]bool{}
	for _, text := range texts {
		documents, err := manifest.Parse("", []byte(text))
		if err != nil {
			return err
		}
		if len(documents) > 0 {
			parts = append(parts, part{documents[0].GroupVersionKind().GroupKind(), text})
		}
		for _, d := range documents {
			params[paramKind(d)] = true
		}
	}
	for _, part := range parts {
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
		case withObject && p.Object == "" && !isClusterKind(part.kind):
			pane = &p.Object
		}
		appendDocument(pane, part.text)
	}
	return nil
}

// isClusterKind reports whether objects of the kind usually configure a cluster, so that requests
// are seldom about them.
func isClusterKind(kind schema.GroupKind) bool {
	return kind == corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind() || kind.Group == apiextensionsv1.GroupName || kind.Group == admissionv1.GroupName
}

// paramKind returns the kind of the params of a policy. It is empty for other objects.
func paramKind(d *manifest.Document) schema.GroupKind {
	if !cluster.IsPolicy(d.GroupVersionKind().GroupKind()) {
		return schema.GroupKind{}
	}
	object, err := d.Object()
	if err != nil {
		return schema.GroupKind{}
	}
	version, _, _ := unstructured.NestedString(object.Object, "spec", "paramKind", "apiVersion")
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "paramKind", "kind")
	return schema.FromAPIVersionAndKind(version, kind).GroupKind()
}

// appendDocument appends a document to the text of a pane.
func appendDocument(pane *string, text string) {
	text = strings.TrimLeft(strings.TrimPrefix(text, "---"), "\n")
	if text = strings.TrimRight(text, "\n") + "\n"; *pane != "" {
		text = *pane + "---\n" + text
	}
	*pane = text
}
