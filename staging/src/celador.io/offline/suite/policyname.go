// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
)

var policyKinds = []string{cluster.ValidatingKind, cluster.MutatingKind}

// bindingSuffix makes the kind of a policy the kind of its bindings.
const bindingSuffix = "Binding"

// cutKind splits the field policy of an expectation, such as MutatingAdmissionPolicy/name, into a
// kind and a name. The kind is empty if the field has only a name.
func cutKind(policy string) (kind, name string) {
	if kind, name, found := strings.Cut(policy, "/"); found {
		return kind, name
	}
	return "", policy
}

// expectedPolicy checks that the fields policy and binding of an expectation name a policy among
// the objects and one of its bindings. The case could never pass otherwise.
func (l *loader) expectedPolicy(path string, spec *Expectation, objects []object) {
	kind, name := cutKind(spec.Policy)
	policies := named(objects, kind, "", name)
	switch {
	case spec.Policy == "":
	case kind != "" && !slices.Contains(policyKinds, kind):
		l.fail(path+".policy", "unknown kind %q, want %s", kind, strings.Join(policyKinds, " or "))
		return
	case len(policies) == 0:
		l.fail(path+".policy", "no policy of the manifests has the name %q", name)
		return
	case len(policies) > 1:
		l.fail(path+".policy", "%d policies have this name: write %s/%s or %s/%s", len(policies), policyKinds[0], name, policyKinds[1], name)
		return
	}
	if spec.Binding != "" {
		bindings := named(objects, kind, bindingSuffix, spec.Binding)
		if len(bindings) == 0 {
			l.fail(path+".binding", "no binding of the manifests has the name %q", spec.Binding)
			return
		}
		bindings = slices.DeleteFunc(bindings, func(o object) bool { return !binds(o, name, objects) })
		if len(bindings) == 0 {
			l.fail(path+".binding", "the policyName of %q is another one, so that it never applies", spec.Binding)
		}
	}
	if spec.Validation != nil {
		index, last := *spec.Validation, -1
		if len(policies) == 1 {
			validations, _, _ := unstructured.NestedSlice(policies[0].content.Object, "spec", "validations")
			last = len(validations) - 1
		}
		if index < 0 {
			l.fail(path+".validation", "must not be negative: it is an index in spec.validations")
		} else if spec.Policy != "" && index > last {
			l.fail(path+".validation", "the policy has no validations[%d]: it has %d validations, counted from 0", index, last+1)
		}
	}
}

// binds reports whether a binding belongs to the named policy. If the name is empty, it reports
// whether the binding belongs to any policy among the objects.
func binds(binding object, policy string, objects []object) bool {
	bound, _, _ := unstructured.NestedString(binding.content.Object, "spec", "policyName")
	if policy != "" {
		return bound == policy
	}
	kind := strings.TrimSuffix(binding.content.GetKind(), bindingSuffix)
	return len(named(objects, kind, "", bound)) > 0
}

// named returns the policies with a name among the objects. If suffix is bindingSuffix, it returns
// the bindings with the name instead. kind is the kind of the policies; if it is empty, both kinds
// are returned.
func named(objects []object, kind, suffix, name string) []object {
	var found []object
	for _, o := range objects {
		of, matches := strings.CutSuffix(o.content.GetKind(), suffix)
		if matches && o.content.GroupVersionKind().Group == admissionv1.GroupName && slices.Contains(policyKinds, of) &&
			(kind == "" || of == kind) && o.content.GetName() == name {
			found = append(found, o)
		}
	}
	return found
}
