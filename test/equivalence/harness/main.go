// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package harness holds what the equivalence suites share. A suite runs an admission plugin of
// Kubernetes and Celador's plugin of the same name in one fake cluster, sends both the same
// requests, and compares what clients, administrators and dashboards see.
//
// The suites compare counters of the process-wide metrics registry. Tests that start a Cluster
// must therefore not run in parallel; each suite is a package, and go test runs packages in
// parallel.
package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/celtest"
)

// Main runs the tests of a suite without logs, and ends the process. The error handlers of
// apimachinery are removed because they sleep, which would block a bubble of synctest. The suite
// fails if a value that an evaluation keeps or shares changes.
func Main(m *testing.M) {
	// Each cluster allocates many objects that are soon garbage. With the default, the suites would
	// spend a fifth of their time in the garbage collector.
	debug.SetGCPercent(300)
	klog.SetLogger(klog.Logger{})
	utilruntime.ErrorHandlers = nil
	os.Exit(celtest.RunChecked(m.Run))
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Gates returns a copy of the default feature gates in which the named gates are enabled.
func Gates(t testing.TB, names ...featuregate.Feature) featuregate.FeatureGate {
	t.Helper()
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	for _, name := range names {
		Must(t, gates.SetFromMap(map[string]bool{string(name): true}))
	}
	return gates
}

// Translate encodes an object as JSON, decodes it into another type, and returns the result.
func Translate[T any](t testing.TB, from any, to T) T {
	t.Helper()
	manifest, err := json.Marshal(from)
	Must(t, err)
	Must(t, json.Unmarshal(manifest, to))
	return to
}

// Replace decodes a JSON manifest into a new value and stores it in spec. If the manifest is empty,
// it leaves spec as it is. It returns false if the manifest is not valid.
func Replace[T any](spec *T, manifest []byte) bool {
	if len(manifest) == 0 {
		return true
	}
	var decoded T
	if json.Unmarshal(manifest, &decoded) != nil {
		return false
	}
	*spec = decoded
	return true
}

// Catch calls a plugin and returns its error. It turns a panic into an error.
func Catch(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return call()
}

// YAML returns the manifest of a value for the message of a failed test.
func YAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%+v (%v)\n", value, err)
	}
	return string(text)
}
