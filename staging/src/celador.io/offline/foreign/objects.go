// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// anyMessage is a regular expression that matches each message.
const anyMessage = ".*"

func (o *object) clone() *object { return &object{o.DeepCopy(), o.origin} }

// String returns the kind, namespace and name.
func (o *object) String() string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
}

// An objectReference names an object. Empty fields match any object.
type objectReference struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r *objectReference) matches(o *object) bool {
	kind := o.GroupVersionKind()
	for _, pair := range [][2]string{{r.Group, kind.Group}, {r.Version, kind.Version}, {r.Kind, kind.Kind}, {r.Namespace, o.GetNamespace()}, {r.Name, o.GetName()}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// in returns the objects that the reference matches.
func (r *objectReference) in(objects []*object) []*object {
	return slices.DeleteFunc(slices.Clone(objects), func(o *object) bool { return !r.matches(o) })
}

// only returns the object that a reference names. If the reference matches no object or several,
// only returns nil and adds an error at path.
func (b *builder) only(path string, reference *objectReference, objects []*object) *object {
	found := reference.in(objects)
	if len(found) == 1 {
		return found[0]
	}
	b.fail(path, "%d objects of the resources have the kind %s and the name %s, want 1. Set namespace and group to tell them apart", len(found), reference.Kind, reference.Name)
	return nil
}

// files returns the objects in the files and directories that are listed in a field of the suite.
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
			objects = append(objects, b.objects(path, file)...)
		}
	}
	return objects
}

// addPolicy adds the policy of a kind and name to the manifests, with its bindings among the
// objects or, if there is none, with a new one that enforces it for all requests. bound reports
// whether the objects have a binding of the policy. addPolicy returns nil and adds an error if
// there is no such policy.
func (b *builder) addPolicy(path, kind, name string, objects []*object) (policy *object, bound bool) {
	var bindings []*object
	for _, o := range objects {
		if o.GroupVersionKind().Group != admissionv1.GroupName {
			continue
		}
		switch o.GetKind() {
		case kind:
			if o.GetName() == name {
				policy = o
			}
		case kind + "Binding":
			if bound, _, _ := unstructured.NestedString(o.Object, "spec", "policyName"); bound == name {
				bindings = append(bindings, o)
			}
		}
	}
	if policy == nil {
		b.fail(path+".policy", "no %s of the files in policies has the name %q", kind, name)
		return nil, false
	}
	if bound = len(bindings) > 0; !bound {
		bindings = []*object{newBinding(policy, kind, nil)}
	}
	b.manifest(policy)
	for _, binding := range bindings {
		b.manifest(binding)
	}
	return policy, bound
}

// paramKindOf returns the paramKind of a policy, which is empty if it has none.
func paramKindOf(policy *object) schema.GroupVersionKind {
	kind, _, _ := unstructured.NestedStringMap(policy.Object, "spec", "paramKind")
	return schema.FromAPIVersionAndKind(kind["apiVersion"], kind["kind"])
}

// newBinding returns a binding that enforces a policy for all requests, with the given param. If
// param is nil, and the policy has a paramKind, the binding selects all params.
func newBinding(policy *object, kind string, param *object) *object {
	name := policy.GetName()
	spec := map[string]any{"policyName": name}
	if kind == cluster.ValidatingKind {
		spec["validationActions"] = []any{string(admissionv1.Deny)}
	}
	switch {
	case param != nil:
		reference := map[string]any{"name": param.GetName(), "parameterNotFoundAction": "Deny"}
		if namespace := param.GetNamespace(); namespace != "" {
			reference["namespace"] = namespace
		}
		spec["paramRef"] = reference
	case !paramKindOf(policy).Empty():
		// An empty selector selects all params.
		spec["paramRef"] = map[string]any{"selector": map[string]any{}, "parameterNotFoundAction": "Deny"}
	}
	return newObject(policy.origin, policy.GetAPIVersion(), kind+"Binding", name, spec)
}

// newObject returns a new object. Errors about it point to the document origin.
func newObject(origin *manifest.Document, version, kind, name string, spec any) *object {
	content := map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
	return &object{&unstructured.Unstructured{Object: content}, origin}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
