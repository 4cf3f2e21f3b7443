// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"

	"celador.io/admission/cel/values"
)

// Short lists allocate the views of their structs together, long lists do not.
func TestListsOfStructs(t *testing.T) {
	for _, n := range []int{1, 8, 9} {
		containers := make([]corev1.Container, n)
		for i := range containers {
			containers[i].Name = string(rune('a' + i))
		}
		list := values.Of(containers).(interface{ At(i int) ref.Val })
		for i := n - 1; i >= 0; i-- {
			view := list.At(i)
			if got := view.(*values.Struct).Get(types.String("name")); got != types.String(containers[i].Name) {
				t.Errorf("element %d of %d: %v", i, n, got)
			}
			if list.At(i) != view {
				t.Errorf("element %d of %d has two views", i, n)
			}
		}
	}
}
