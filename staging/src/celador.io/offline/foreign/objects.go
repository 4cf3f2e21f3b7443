// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

var (
	namespaceKind  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// anyMessage is a regular expression that matches each message.
const anyMessage = ".*"

// isDefinition reports whether an object is a CustomResourceDefinition.
func isDefinition(o *object) bool { return o.kind().GroupKind() == definitionKind }

// definedKind returns the kind that a CustomResourceDefinition defines.
func definedKind(definition *object) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.content, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.content, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

func (o *object) meta() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.content}
}

func (o *object) kind() schema.GroupVersionKind { return o.meta().GroupVersionKind() }

func (o *object) clone() *object { return &object{runtime.DeepCopyJSON(o.content), o.origin} }

// String returns the kind, namespace and name.
func (o *object) String() string {
	m := o.meta()
	if m.GetNamespace() == "" {
		return m.GetKind() + " " + m.GetName()
	}
	return fmt.Sprintf("%s %s/%s", m.GetKind(), m.GetNamespace(), m.GetName())
}

// nameOf returns the name of an object.
func nameOf(o *object) string { return o.meta().GetName() }

// An objectReference names an object. Empty fields match any object.
type objectReference struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r *objectReference) matches(o *object) bool {
	kind, m := o.kind(), o.meta()
	for _, pair := range [][2]string{{r.Group, kind.Group}, {r.Version, kind.Version}, {r.Kind, kind.Kind}, {r.Namespace, m.GetNamespace()}, {r.Name, m.GetName()}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// only returns the one object that a reference names, and adds an error at path if there is another number.
func (b *builder) only(path string, reference *objectReference, objects []*object) *object {
	found := slices.DeleteFunc(slices.Clone(objects), func(o *object) bool { return !reference.matches(o) })
	if len(found) == 1 {
		return found[0]
	}
	b.fail(path, "%d objects of the resources have the kind %s and the name %s, want 1. Set namespace and group to tell them apart", len(found), reference.Kind, reference.Name)
	return nil
}

// files returns the objects of the files and directories that a list of the suite names.
func (b *builder) files(field string, names []string) []*object {
	var objects []*object
	for i, name := range names {
		path := fmt.Sprintf("%s[%d]", field, i)
		files := []string{b.path(name)}
		if !remote.MatchString(name) {
			var err error
			if files, err = manifest.Files(b.path(name)); err != nil {
				b.fail(path, "%v", err)
			}
		}
		for _, file := range files {
			for _, document := range b.read(path, file) {
				if o := b.decoded(document); o != nil {
					objects = append(objects, o)
				}
			}
		}
	}
	return objects
}

// policyWithBindings returns the policy of a kind and name, or nil, and its bindings.
func policyWithBindings(objects []*object, kind, name string) (policy *object, bindings []*object) {
	for _, o := range objects {
		if o.kind().Group != admissionv1.GroupName {
			continue
		}
		switch o.kind().Kind {
		case kind:
			if nameOf(o) == name {
				policy = o
			}
		case kind + "Binding":
			if bound, _, _ := unstructured.NestedString(o.content, "spec", "policyName"); bound == name {
				bindings = append(bindings, o)
			}
		}
	}
	return policy, bindings
}

// paramKindOf returns the paramKind of a policy, which is empty if it has none.
func paramKindOf(policy *object) schema.GroupVersionKind {
	kind, _, _ := unstructured.NestedStringMap(policy.content, "spec", "paramKind")
	return schema.FromAPIVersionAndKind(kind["apiVersion"], kind["kind"])
}

// newBinding returns a binding that enforces a policy for all requests, with a param unless it is nil.
func newBinding(policy *object, kind string, param *object) *object {
	name := nameOf(policy)
	spec := map[string]any{"policyName": name}
	if kind == cluster.ValidatingKind {
		spec["validationActions"] = []any{string(admissionv1.Deny)}
	}
	switch {
	case param != nil:
		reference := map[string]any{"name": nameOf(param), "parameterNotFoundAction": "Deny"}
		if namespace := param.meta().GetNamespace(); namespace != "" {
			reference["namespace"] = namespace
		}
		spec["paramRef"] = reference
	case !paramKindOf(policy).Empty():
		// Any param.
		spec["paramRef"] = map[string]any{"selector": map[string]any{}, "parameterNotFoundAction": "Deny"}
	}
	return &object{map[string]any{
		"apiVersion": policy.meta().GetAPIVersion(), "kind": kind + "Binding", "metadata": map[string]any{"name": name}, "spec": spec,
	}, policy.origin}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
