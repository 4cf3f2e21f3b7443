// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/apiserver/pkg/admission/plugin/manifest"
)

// newLoader returns a loader whose validation rejects policies without validations.
func newLoader() *manifest.Loader[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding] {
	return &manifest.Loader[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding]{
		Policies: manifest.Descriptor[*v1.ValidatingAdmissionPolicy]{
			Name: "ValidatingAdmissionPolicy",
			Items: manifest.Items(func(list *v1.ValidatingAdmissionPolicyList) []v1.ValidatingAdmissionPolicy {
				return list.Items
			}),
			Validate: func(p *v1.ValidatingAdmissionPolicy) field.ErrorList {
				if len(p.Spec.Validations) > 0 {
					return nil
				}
				return field.ErrorList{field.Required(field.NewPath("spec", "validations"), "")}
			},
			HasParams: func(p *v1.ValidatingAdmissionPolicy) bool { return p.Spec.ParamKind != nil },
		},
		Bindings: manifest.Descriptor[*v1.ValidatingAdmissionPolicyBinding]{
			Name: "ValidatingAdmissionPolicyBinding",
			Items: manifest.Items(func(list *v1.ValidatingAdmissionPolicyBindingList) []v1.ValidatingAdmissionPolicyBinding {
				return list.Items
			}),
			Validate:  func(*v1.ValidatingAdmissionPolicyBinding) field.ErrorList { return nil },
			HasParams: func(b *v1.ValidatingAdmissionPolicyBinding) bool { return b.Spec.ParamRef != nil },
		},
		PolicyName:  func(b *v1.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName },
		IsSingleton: func(p *v1.ValidatingAdmissionPolicy) bool { return p.Spec.PolicyType != nil },
	}
}

const head = "apiVersion: admissionregistration.k8s.io/v1\nkind: "

func document(file, text string) upstream.FileDoc {
	return upstream.FileDoc{FilePath: file, Doc: []byte(text)}
}

func policyDocument(file, name string) upstream.FileDoc {
	return document(file, head+"ValidatingAdmissionPolicy\nmetadata: {name: "+name+"}\nspec: {matchConstraints: {}, validations: [{expression: 'true'}]}")
}

func bindingDocument(file, name, policy string) upstream.FileDoc {
	return document(file, head+"ValidatingAdmissionPolicyBinding\nmetadata: {name: "+name+"}\nspec: {policyName: "+policy+"}")
}

func TestLoad(t *testing.T) {
	got, err := newLoader().Load([]upstream.FileDoc{
		bindingDocument("1", "z.static.k8s.io", "b.static.k8s.io"),
		policyDocument("2", "b.static.k8s.io"),
		document("3", head+`ValidatingAdmissionPolicyBindingList
items:
- {metadata: {name: y.static.k8s.io}, spec: {policyName: a.static.k8s.io}}
- {metadata: {name: x.static.k8s.io}, spec: {policyName: b.static.k8s.io}}`),
		policyDocument("4", "a.static.k8s.io"),
	})
	if err != nil {
		t.Fatal(err)
	}
	policy := func(name string) *v1.ValidatingAdmissionPolicy {
		return &v1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &v1.MatchResources{
					NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}, MatchPolicy: new(v1.Equivalent),
				},
				Validations:   []v1.Validation{{Expression: "true"}},
				FailurePolicy: new(v1.Fail),
			},
		}
	}
	binding := func(name, policy string, meta metav1.TypeMeta) *v1.ValidatingAdmissionPolicyBinding {
		return &v1.ValidatingAdmissionPolicyBinding{
			TypeMeta: meta, ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy},
		}
	}
	want := manifest.Contents[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding]{
		Policies: []*v1.ValidatingAdmissionPolicy{policy("a.static.k8s.io"), policy("b.static.k8s.io")},
		Bindings: []*v1.ValidatingAdmissionPolicyBinding{
			binding("x.static.k8s.io", "b.static.k8s.io", metav1.TypeMeta{}),
			binding("y.static.k8s.io", "a.static.k8s.io", metav1.TypeMeta{}),
			binding("z.static.k8s.io", "b.static.k8s.io", metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding"}),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

func TestLoadErrors(t *testing.T) {
	good := policyDocument("good", "p.static.k8s.io")
	for name, test := range map[string]struct {
		documents []upstream.FileDoc
		want      string
	}{
		"nothing":           {nil, ""},
		"not decodable":     {[]upstream.FileDoc{good, document("bad", "apiVersion: v1\nkind: x")}, `error loading bad: no kind "x" is registered for version "v1" in scheme "`},
		"not for policies":  {[]upstream.FileDoc{good, document("bad", head+"ValidatingWebhookConfiguration")}, `error loading bad: unsupported resource type *v1.ValidatingWebhookConfiguration`},
		"invalid":           {[]upstream.FileDoc{document("bad", head+"ValidatingAdmissionPolicy\nmetadata: {name: p}"), good}, `error loading bad: ValidatingAdmissionPolicy "p": spec.validations: Required value`},
		"wrong name":        {[]upstream.FileDoc{policyDocument("bad", "p"), good}, `error loading bad: "p" in file "bad" must have a name ending with ".static.k8s.io"`},
		"same name":         {[]upstream.FileDoc{good, policyDocument("bad", "p.static.k8s.io")}, `error loading bad: duplicate name "p.static.k8s.io" found in file "bad" (previously seen in "good")`},
		"unknown policy":    {[]upstream.FileDoc{good, bindingDocument("bad", "b.static.k8s.io", "q.static.k8s.io")}, `binding "b.static.k8s.io" references policy "q.static.k8s.io" which does not exist in the manifest directory`},
		"policy of clients": {[]upstream.FileDoc{good, bindingDocument("bad", "b.static.k8s.io", "p")}, `error loading bad: binding "b.static.k8s.io": spec.policyName "p" must end with ".static.k8s.io"`},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := newLoader().Load(test.documents)
			expect(t, err, test.want)
			if len(set.Policies)+len(set.Bindings) > 0 {
				t.Errorf("got %v", set)
			}
		})
	}
}
