// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"

	"celador.io/celador/test/integration/testserver"
)

// TestStorage shows that policies and bindings are stored as a stock server stores them: in v1
// whatever version a client writes, as protobuf, under the name of the resource. Either server can
// take over the other's etcd.
func TestStorage(t *testing.T) {
	dir := t.TempDir()
	client := clientsOf(testserver.Start(t, dir, "--runtime-config="+group+"/v1alpha1=true"))
	policy, binding := client.forbid(t)
	alpha := &v1alpha1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "alpha"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "none"}}
	if _, err := client.Policies.AdmissionregistrationV1alpha1().MutatingAdmissionPolicyBindings().Create(t.Context(), alpha, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	store := testserver.Store(t, dir)

	for key, want := range map[string]struct {
		kind string
		uid  string
	}{
		"validatingadmissionpolicies/forbid":       {"ValidatingAdmissionPolicy", string(policy.UID)},
		"validatingadmissionpolicybindings/forbid": {"ValidatingAdmissionPolicyBinding", string(binding.UID)},
		"mutatingadmissionpolicybindings/alpha":    {"MutatingAdmissionPolicyBinding", ""},
	} {
		t.Run(key, func(t *testing.T) {
			found, err := store.Get(t.Context(), "/registry/"+key)
			if err != nil || len(found.Kvs) != 1 {
				t.Fatalf("got %v, %v, want one value", found, err)
			}
			value := found.Kvs[0].Value
			if !bytes.HasPrefix(value, []byte("k8s\x00")) {
				t.Errorf("not protobuf: %q", value)
			}
			obj, kind, err := scheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := admissionregistrationv1.SchemeGroupVersion.WithKind(want.kind); *kind != want {
				t.Errorf("stored as %v, want %v", *kind, want)
			}
			if uid := string(obj.(metav1.Object).GetUID()); uid != want.uid && want.uid != "" {
				t.Errorf("stored with uid %s, want %s", uid, want.uid)
			}
		})
	}

	t.Run("new and stored expressions", func(t *testing.T) { testNewAndStoredExpressions(t, client, store) })
	t.Run("stored by another server", func(t *testing.T) {
		old := &admissionregistrationv1beta1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: group + "/v1beta1", Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 3, Labels: map[string]string{"old": "yes"}},
			Spec: admissionregistrationv1beta1.ValidatingAdmissionPolicySpec{
				Validations: []admissionregistrationv1beta1.Validation{{Expression: "true", Message: "old"}},
			},
		}
		for name, serializer := range map[string]runtime.Encoder{
			"protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
			"json":     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}),
		} {
			old.Name = "old-" + name
			value, err := runtime.Encode(serializer, old)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Put(t.Context(), "/registry/validatingadmissionpolicies/"+old.Name, string(value)); err != nil {
				t.Fatal(err)
			}
			// The server's cache receives the object a moment later.
			testserver.Eventually(t, func(ctx context.Context) error {
				got, err := client.Core.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, old.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				want := []admissionregistrationv1.Validation{{Expression: "true", Message: "old"}}
				if diff := cmp.Diff(want, got.Spec.Validations); diff != "" || got.Generation != 3 || got.Labels["old"] != "yes" {
					return fmt.Errorf("got %v, validations (-want +got):\n%s", got, diff)
				}
				return nil
			})
		}
	})
}
