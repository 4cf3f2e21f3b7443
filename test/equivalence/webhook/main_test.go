// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook runs upstream's plugins for webhooks and Celador's side by side and
// compares all that clients, webhooks, administrators and dashboards see of a request:
// which webhooks are asked and what, error, warnings, audit annotations, metrics, and the
// object as webhooks change it.
//
// Examples are written by hand and say what is right; made-up webhooks and fuzzing go on
// from there. All plugins get everything through their public setters, from one fake
// cluster, and call webhooks that answer in the process.
package webhook

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	// Informers and upstream's plugins have much to say, of which nothing is compared.
	// The handlers of errors also sleep, and would on a clock that the tests stop.
	klog.SetLogger(klog.Logger{})
	utilruntime.ErrorHandlers = nil
	m.Run()
}
