// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"testing"

	upstream "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/celador/pkg/features"
)

func TestGatesLastAsLongAsTheirServer(t *testing.T) {
	global := utilfeature.DefaultMutableFeatureGate
	const gate = upstream.APIResponseCompression
	before, version := global.Enabled(gate), global.EmulationVersion()

	api, err := parsed(t, "--feature-gates=APIResponseCompression=false", "--emulated-version=1.36")
	if err != nil {
		t.Fatal(err)
	}
	if global.Enabled(gate) != before {
		t.Error("parsing flags changed the gate of the process")
	}
	restore, err := features.Adopt(api.gate)
	if err != nil {
		t.Fatal(err)
	}
	if global.Enabled(gate) || global.EmulationVersion().String() != "1.36" {
		t.Errorf("the process has the gate at %v and emulates %v", global.Enabled(gate), global.EmulationVersion())
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if global.Enabled(gate) != before || global.ExplicitlySet(gate) || !global.EmulationVersion().EqualTo(version) {
		t.Errorf("afterwards the process has the gate at %v, set: %v, and emulates %v",
			global.Enabled(gate), global.ExplicitlySet(gate), global.EmulationVersion())
	}

	next, err := parsed(t)
	if err != nil {
		t.Fatal(err)
	}
	if next.gate.Enabled(gate) != before {
		t.Error("the next server has the gate of the one before")
	}
}
