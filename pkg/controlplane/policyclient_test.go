// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"k8s.io/client-go/rest"
)

func TestNewPolicyClientNeedsAConfig(t *testing.T) {
	if _, err := newPolicyClient(&rest.Config{Host: "://"}, nil); err == nil {
		t.Error("got no error for a host that is none")
	}
}
