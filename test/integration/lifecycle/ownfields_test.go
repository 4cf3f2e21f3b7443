// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/api/admissionregistration/v1"
	upstreamcrd "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "celador.io/api/admissionregistration/v1"
	crd "celador.io/api/apiextensions/v1"
)

// ownFields returns the fields of ours that theirs do not have, as the names of their Go types and
// their own. It looks into the types of fields that both have.
func ownFields(ours, theirs reflect.Type, seen map[reflect.Type]bool) []string {
	for ours.Kind() == theirs.Kind() && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, ours.Kind()) {
		ours, theirs = ours.Elem(), theirs.Elem()
	}
	if ours == theirs || seen[ours] || ours.Kind() != reflect.Struct {
		return nil
	}
	seen[ours] = true
	var own []string
	for i := range ours.NumField() {
		field := ours.Field(i)
		if other, ok := theirs.FieldByName(field.Name); ok {
			own = append(own, ownFields(field.Type, other.Type, seen)...)
		} else {
			own = append(own, ours.Name()+"."+field.Name)
		}
	}
	return own
}

// sharedCases has a case for each field of a spec that Kubernetes drops.
func TestSharedCases(t *testing.T) {
	var want, got []string
	seen := map[reflect.Type]bool{}
	for ours, theirs := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[v1.ValidatingAdmissionPolicySpec]():        reflect.TypeFor[upstream.ValidatingAdmissionPolicySpec](),
		reflect.TypeFor[v1.ValidatingAdmissionPolicyBindingSpec](): reflect.TypeFor[upstream.ValidatingAdmissionPolicyBindingSpec](),
		reflect.TypeFor[v1.MutatingAdmissionPolicySpec]():          reflect.TypeFor[upstream.MutatingAdmissionPolicySpec](),
		reflect.TypeFor[v1.MutatingAdmissionPolicyBindingSpec]():   reflect.TypeFor[upstream.MutatingAdmissionPolicyBindingSpec](),
		reflect.TypeFor[crd.CustomResourceDefinitionSpec]():        reflect.TypeFor[upstreamcrd.CustomResourceDefinitionSpec](),
	} {
		want = append(want, ownFields(ours, theirs, seen)...)
	}
	for _, tc := range sharedCases {
		got = append(got, tc.field)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields that Kubernetes does not have, and fields of the cases (-want +got):\n%s", diff)
	}
}
