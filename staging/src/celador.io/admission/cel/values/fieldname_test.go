// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/cel/values"
)

// One name is selected from structs of several types, in different orders.
func TestSelect(t *testing.T) {
	objects := []struct {
		object any
		want   ref.Val // nil if the field is absent
	}{
		{&corev1.Container{Name: "container"}, types.String("container")},
		{&metav1.ObjectMeta{Name: "meta"}, types.String("meta")},
		{&metav1.ObjectMeta{}, nil},              // omitted
		{&corev1.PodSpec{NodeName: "node"}, nil}, // undeclared
		{&corev1.Volume{Name: "volume"}, types.String("volume")},
	}
	for first := range objects {
		name := values.NewFieldName("name")
		for i := range 2 * len(objects) {
			test := objects[(first+i)%len(objects)]
			view := values.Of(test.object).(*values.Struct)
			for range 2 {
				if got := view.Select(name); got != test.want {
					t.Errorf("%T after %T: %v, want %v", test.object, objects[first].object, got, test.want)
				}
			}
		}
	}
}
