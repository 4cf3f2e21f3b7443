// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

var (
	blue    = &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
	notBlue = requirement("color", metav1.LabelSelectorOpNotIn, "blue")
	invalid = requirement("color", "Resembles", "blue")
)

func requirement(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

func space(meta metav1.ObjectMeta) runtime.Object { return &corev1.Namespace{ObjectMeta: meta} }

func TestNamespaceSelector(t *testing.T) {
	in := func(namespace string) ask {
		return ask{operation: admission.Create, resource: pods, kind: pod, namespace: namespace}
	}
	namespaceAsk := func(operation admission.Operation, name string, object, old runtime.Object) ask {
		return ask{operation: operation, resource: namespaces, kind: namespace, namespace: name, name: name, object: object, old: old}
	}
	isBlue, isPlain := labelled("plain", "color", "blue"), metav1.ObjectMeta{Name: "blue"}
	for name, test := range map[string]struct {
		selector *metav1.LabelSelector
		ask      ask
		want     bool
		wantErr  string
	}{
		"none":                         {nil, in("blue"), true, ""},
		"none, absent namespace":       {nil, in("absent"), true, ""},
		"empty, absent namespace":      {&metav1.LabelSelector{}, in("absent"), true, ""},
		"labels as wanted":             {blue, in("blue"), true, ""},
		"no labels":                    {blue, in("plain"), false, ""},
		"labels as unwanted":           {notBlue, in("blue"), false, ""},
		"no unwanted labels":           {notBlue, in("plain"), true, ""},
		"by name, as if it was labels": {requirement(corev1.LabelMetadataName, metav1.LabelSelectorOpIn, "blue"), in("blue"), false, ""},
		"absent namespace":             {blue, in("absent"), false, `namespaces "absent" not found`},
		"unreadable namespace":         {blue, in("down"), false, "Internal error occurred: storage is down"},
		"invalid":                      {invalid, in("blue"), false, `Internal error occurred: "Resembles" is not a valid label selector operator`},

		"cluster-scoped":                {blue, ask{operation: admission.Create, resource: nodes, kind: node}, true, ""},
		"cluster-scoped, invalid":       {invalid, ask{operation: admission.Create, resource: nodes, kind: node}, true, ""},
		"create namespace":              {blue, namespaceAsk(admission.Create, "absent", space(isBlue), nil), true, ""},
		"create namespace, no labels":   {blue, namespaceAsk(admission.Create, "blue", space(isPlain), nil), false, ""},
		"create namespace, no name yet": {blue, namespaceAsk(admission.Create, "", space(isBlue), nil), true, ""},
		"label namespace":               {blue, namespaceAsk(admission.Update, "plain", space(isBlue), space(isPlain)), true, ""},
		"unlabel namespace":             {blue, namespaceAsk(admission.Update, "blue", space(isPlain), space(isBlue)), false, ""},
		"delete namespace":              {blue, namespaceAsk(admission.Delete, "blue", nil, space(isPlain)), true, ""},
		"delete namespace, no labels":   {blue, namespaceAsk(admission.Delete, "plain", nil, space(isBlue)), false, ""},
		"delete absent namespace":       {blue, namespaceAsk(admission.Delete, "absent", nil, nil), false, `namespaces "absent" not found`},
		"create namespace without data": {blue, namespaceAsk(admission.Create, "blue", nil, nil), false, "Internal error occurred: object does not implement the Object interfaces"},
		"finalize namespace": {blue, ask{operation: admission.Update, resource: namespaces, kind: namespace, subresource: "finalize", namespace: "plain", name: "plain", object: space(isBlue)},
			false, ""},
		"created room in a namespace": {blue, ask{operation: admission.Create, resource: rooms, kind: room, namespace: "plain", object: space(isBlue)}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, matches, err := matching.Compile(&v1.MatchResources{NamespaceSelector: test.selector}).Match(test.ask.request(t))
			if matches != test.want || text(err) != test.wantErr {
				t.Errorf("got %v, error %v, want %v, %q", matches, err, test.want, test.wantErr)
			}
			if test.wantErr == `namespaces "absent" not found` && !apierrors.IsNotFound(err) {
				t.Errorf("error %v has reason %s", err, apierrors.ReasonForError(err))
			}
		})
	}
}

func TestObjectSelector(t *testing.T) {
	blueMeta, redMeta := labelled("a", "color", "blue"), labelled("a", "color", "red")
	bluePod, redPod := &corev1.Pod{ObjectMeta: blueMeta}, &corev1.Pod{ObjectMeta: redMeta}
	for name, test := range map[string]struct {
		selector    *metav1.LabelSelector
		object, old runtime.Object
		want        bool
		wantErr     string
	}{
		"none":                             {nil, redPod, nil, true, ""},
		"empty":                            {&metav1.LabelSelector{}, redPod, nil, true, ""},
		"none, no object":                  {nil, nil, nil, true, ""},
		"created as wanted":                {blue, bluePod, nil, true, ""},
		"created otherwise":                {blue, redPod, nil, false, ""},
		"changed to":                       {blue, bluePod, redPod, true, ""},
		"changed from":                     {blue, redPod, bluePod, true, ""},
		"changed otherwise":                {blue, redPod, redPod, false, ""},
		"deleted":                          {blue, nil, bluePod, true, ""},
		"deleted, other":                   {blue, nil, redPod, false, ""},
		"changed from unwanted":            {notBlue, redPod, bluePod, true, ""},
		"still unwanted":                   {notBlue, bluePod, bluePod, false, ""},
		"no object":                        {notBlue, nil, nil, false, ""},
		"object without metadata":          {notBlue, &corev1.PodExecOptions{}, nil, false, ""},
		"object without metadata, no rule": {nil, &corev1.PodExecOptions{}, nil, true, ""},
		"invalid":                          {invalid, bluePod, nil, false, `Internal error occurred: "Resembles" is not a valid label selector operator`},
	} {
		t.Run(name, func(t *testing.T) {
			change := ask{operation: admission.Update, resource: pods, kind: pod, namespace: "plain", object: test.object, old: test.old}
			_, matches, err := matching.Compile(&v1.MatchResources{ObjectSelector: test.selector}).Match(change.request(t))
			if matches != test.want || text(err) != test.wantErr {
				t.Errorf("got %v, error %v, want %v, %q", matches, err, test.want, test.wantErr)
			}
		})
	}
}

// A criterion that cannot be decided is no error if the request does not meet another criterion.
func TestErrorsOnlyIfUndecided(t *testing.T) {
	unknownKind := "unable to convert to extensions/v1beta1, Resource=deployments: unknown kind"
	deploy := ask{operation: admission.Create, resource: deployments, kind: deployment, namespace: "absent", object: &corev1.Pod{ObjectMeta: labelled("a", "color", "red")}}
	for name, test := range map[string]struct {
		criteria v1.MatchResources
		wantErr  string
	}{
		"absent namespace, no rule":        {v1.MatchResources{NamespaceSelector: blue, ResourceRules: listing("/v1/pods")}, ""},
		"absent namespace, excluded":       {v1.MatchResources{NamespaceSelector: blue, ExcludeResourceRules: listing("apps/v1/deployments")}, ""},
		"absent namespace, object":         {v1.MatchResources{NamespaceSelector: blue, ObjectSelector: blue}, ""},
		"invalid object selector, no rule": {v1.MatchResources{ObjectSelector: invalid, ResourceRules: listing("/v1/pods")}, ""},
		"unknown kind, object":             {v1.MatchResources{MatchPolicy: new(v1.Equivalent), ObjectSelector: blue, ResourceRules: listing("extensions/*/deployments")}, ""},
		"unknown kind before namespace":    {v1.MatchResources{MatchPolicy: new(v1.Equivalent), NamespaceSelector: blue, ResourceRules: listing("extensions/*/deployments")}, unknownKind},
		"namespace before object":          {v1.MatchResources{NamespaceSelector: blue, ObjectSelector: invalid}, `namespaces "absent" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			target, matches, err := matching.Compile(&test.criteria).Match(deploy.request(t))
			if matches || text(err) != test.wantErr {
				t.Errorf("got %v, error %v, want no match, %q", matches, err, test.wantErr)
			}
			if target.Kind != (schema.GroupVersionKind{}) {
				t.Errorf("a target without a match: %v", target)
			}
		})
	}
}
