// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package constructed

import (
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

func TestObject(t *testing.T) {
	object := dynamic.NewObjectVal(types.NewObjectType("Object.spec"), map[string]ref.Val{"replicas": types.Int(5)})
	if got := TypeName(object); got != "Object.spec" {
		t.Errorf("got the type %q", got)
	}
	if fields := Fields(object); len(fields) != 1 || fields["replicas"] != types.Int(5) {
		t.Errorf("got the fields %v", fields)
	}
}
