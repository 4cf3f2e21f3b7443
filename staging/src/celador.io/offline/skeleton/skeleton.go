// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package skeleton writes a first test suite for the policies of a file.
package skeleton

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// New returns the text of a suite for the policies of a file. The file may also have bindings,
// params and CustomResourceDefinitions. directory is where the suite will be. For each validation,
// the suite has a case that satisfies it and a case that violates it. For each mutating policy, it
// has one case. The objects of the cases are found by trial. A case for which none is found is
// marked with TODO and fails. The suite has the feature gates that fields of the policies and
// bindings need, and New enables them meanwhile.
func New(ctx context.Context, backend cluster.Backend, file, directory string) ([]byte, error) {
	objects, documents, err := read(file)
	if err != nil {
		return nil, err
	}
	all, err := samples(objects)
	if err != nil {
		return nil, err
	}
	d := &draft{objects: objects, samples: all}
	path, err := relative(directory, file)
	if err != nil {
		return nil, err
	}
	gates := cluster.FeatureGates(objects...)
	restore, err := backend.EnableFeatures(gates)
	if err != nil {
		return nil, err
	}
	defer restore()
	d.begin(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), path, gates)
	var policies []*policy
	for _, object := range objects {
		if isPolicy(object) {
			p := &policy{object: object}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &p.typed); err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", file, object.GetKind(), object.GetName(), err)
			}
			policies = append(policies, p)
		}
	}
	if len(policies) == 0 {
		return nil, fmt.Errorf("%s: no policy found: want a %s or a %s", file, cluster.ValidatingKind, cluster.MutatingKind)
	}
	for _, p := range policies {
		d.complete(p)
	}
	if err := checkPolicies(ctx, backend, objects, documents); err != nil {
		return nil, err
	}
	// If the server does not accept the manifests, there is no cluster, and objects cannot be
	// tried. Running the suite shows the reason.
	withPolicies, _ := cluster.New(ctx, backend, d.objects...)
	withoutPolicies, _ := cluster.New(ctx, backend, slices.DeleteFunc(slices.Clone(d.objects), isPolicy)...)
	d.text.WriteString("cases:\n")
	for _, p := range policies {
		prefix := ""
		if len(policies) > 1 {
			prefix = p.object.GetName() + ": "
		}
		if err := d.cases(ctx, p, prefix, withPolicies, withoutPolicies); err != nil {
			return nil, err
		}
	}
	return []byte(d.text.String()), nil
}

// A policy is a policy of the file, validating or mutating. typed has the fields that a skeleton
// needs. A field that the policy's kind does not have, such as validations, is empty.
type policy struct {
	object *unstructured.Unstructured
	typed  struct {
		Spec struct {
			ParamKind        *admissionv1.ParamKind       `json:"paramKind"`
			MatchConstraints *admissionv1.MatchResources  `json:"matchConstraints"`
			MatchConditions  []admissionv1.MatchCondition `json:"matchConditions"`
			Variables        []admissionv1.Variable       `json:"variables"`
			Validations      []admissionv1.Validation     `json:"validations"`
		} `json:"spec"`
	}
	// constraints are the matchConstraints of the policy and the matchResources of its bindings. An
	// element is nil if the policy or the binding has none.
	constraints []*admissionv1.MatchResources
	// denies is set if a binding has the action Deny.
	denies bool
	// params is the param with which the cases are evaluated. Nil if there is none.
	params map[string]any
}

func isPolicy(object *unstructured.Unstructured) bool {
	return cluster.IsPolicy(object.GroupVersionKind().GroupKind())
}

// checkPolicies returns an error if a server does not accept the policies and bindings of the file.
// It leaves out other objects, such as params, because a server may accept them only with manifests
// that the file does not have.
func checkPolicies(ctx context.Context, backend cluster.Backend, objects []*unstructured.Unstructured, documents []*manifest.Document) error {
	var policies []*unstructured.Unstructured
	var own []*manifest.Document
	for i, object := range objects {
		if object.GroupVersionKind().Group == admissionv1.GroupName {
			policies, own = append(policies, object), append(own, documents[i])
		}
	}
	if _, err := cluster.New(ctx, backend, policies...); err != nil {
		return suite.Locate(err, own)
	}
	return nil
}

// read returns the objects of a file, and the document from which each was read.
func read(file string) ([]*unstructured.Unstructured, []*manifest.Document, error) {
	read, err := manifest.Read(file)
	if err != nil {
		return nil, nil, err
	}
	var objects []*unstructured.Unstructured
	var documents []*manifest.Document
	for item, err := range manifest.Items(read) {
		if err != nil {
			return nil, nil, err
		}
		object, err := item.Object()
		if err != nil {
			return nil, nil, err
		}
		objects, documents = append(objects, object), append(documents, item)
	}
	return objects, documents, nil
}

// relative returns the path of a file from a directory, with slashes.
func relative(directory, file string) (string, error) {
	from, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	return filepath.ToSlash(path), err
}
