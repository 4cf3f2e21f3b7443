// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutating runs upstream's MutatingAdmissionPolicy plugin and Celador's side by
// side and compares all that clients and dashboards see of a request: what becomes of the
// object, the error, whether and how admission runs a second time, and metrics.
//
// Examples are written by hand and say what is right; made-up policies and fuzzing go on
// from there. Both plugins get everything through their public setters, from one fake
// cluster with the schemas of Kubernetes.
package mutating

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	// Informers and upstream's plugin have much to say, of which nothing is compared.
	// The handlers of errors also sleep, and would on a clock that the tests stop.
	klog.SetLogger(klog.Logger{})
	utilruntime.ErrorHandlers = nil
	m.Run()
}
