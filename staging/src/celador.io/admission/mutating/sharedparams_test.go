// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"encoding/json"
	"sync"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/mutating"
	"celador.io/admission/policy"
)

// Requests at the same time share params with each other and with the informer that holds them. No
// mutation writes to a part of a param, whatever expression makes the part a part of the patch. The
// race detector finds writes.
func TestParamsAreOnlyRead(t *testing.T) {
	// Apply configurations may not write atomic lists such as owner references. They fail after the
	// params have become parts of them.
	const applyConfiguration = "apply configuration"
	const owner, owners = `params.spec.owner`, `params.spec.owners`
	contents := map[string]string{
		"a list of parts":        `[` + owner + `]`,
		"a list with other keys": `[{"apiVersion": "v1", "kind": "Limit", "name": "one", "uid": "1"}] + [` + owner + `]`,
		"a list":                 owners,
		"joined lists":           owners + ` + [` + owner + `]`,
		"mapped lists":           owners + `.map(o, o)`,
		"filtered lists":         owners + `.filter(o, o.name != "")`,
	}
	objectOf := func(list string) string {
		return `Object{metadata: Object.metadata{ownerReferences: ` + list + `}}`
	}
	mapOf := func(list string) string { return `{"metadata": {"ownerReferences": ` + list + `}}` }
	mutations := map[string]func(list string) v1.Mutation{
		"apply configuration": func(list string) v1.Mutation { return policytest.ApplyConfiguration(objectOf(list)) },
		"JSON patch": func(list string) v1.Mutation {
			return inline(`JSONPatch{op: "add", path: "/metadata/ownerReferences", value: ` + list + `}`)
		},
		"JSON merge patch":              func(list string) v1.Mutation { return jsonMerge(objectOf(list)) },
		"JSON merge patch of a map":     func(list string) v1.Mutation { return jsonMerge(mapOf(list)) },
		"strategic merge patch":         func(list string) v1.Mutation { return strategic(objectOf(list)) },
		"strategic merge patch of maps": func(list string) v1.Mutation { return strategic(mapOf(list)) },
	}
	for name, mutation := range mutations {
		for content, list := range contents {
			t.Run(name+" with "+content, func(t *testing.T) {
				of := func(uid string) map[string]any {
					return map[string]any{"apiVersion": "v1", "kind": "Limit", "name": "owner" + uid, "uid": uid}
				}
				param := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"owner": of("2"), "owners": []any{of("3"), of("4")}}}}
				param.SetName("one")
				p := policytest.Mutating("p", mutation(list))
				p.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
				store := mutating.NewEngine(mutating.Config{Config: policy.Config{Features: on, Params: paramList{param}}}).NewStore()
				store.Set(p)
				store.Set(&v1.MutatingAdmissionPolicyBinding{
					ObjectMeta: metav1.ObjectMeta{Name: "p"},
					Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "p", ParamRef: &v1.ParamRef{Name: "one", ParameterNotFoundAction: new(v1.DenyAction)}},
				})
				snapshot := store.Snapshot()

				var requests sync.WaitGroup
				for range 2 {
					requests.Go(func() {
						s := create(on, configMap("a", "1"))
						s.snapshot = snapshot
						result, err := s.mutate(t)
						if fails := name == applyConfiguration; err != nil || (len(result.Failures) > 0) != fails {
							t.Errorf("got %v, failures %v", err, result.Failures)
						}
						if got := s.GetObject().(*corev1.ConfigMap).OwnerReferences; (len(got) > 0) == (name == applyConfiguration) {
							t.Errorf("got owner references %v", got)
						}
					})
				}
				requests.Go(func() {
					if _, err := json.Marshal(param.Object); err != nil {
						t.Error(err)
					}
				})
				requests.Wait()
			})
		}
	}
}
