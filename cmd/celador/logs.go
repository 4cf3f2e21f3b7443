// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"regexp"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// klogHeader is what klog writes before the message of a fatal entry.
var klogHeader = regexp.MustCompile(`^F\d{4} [^\]]*\] `)

// discardLogs silences klog. When klog is about to end the process, the reason is printed in one line.
func discardLogs() {
	// The process ends with the first, but other goroutines may have one of their own by then.
	var fatal atomic.Pointer[string]
	klog.SetLoggerWithOptions(logr.Discard(), klog.WriteKlogBuffer(func(entry []byte) {
		if header := klogHeader.Find(entry); header != nil {
			message := string(entry[len(header):])
			fatal.CompareAndSwap(nil, &message)
		}
	}))
	klog.OsExit = func(code int) {
		if message := fatal.Load(); message != nil {
			fail(errors.New("kube-apiserver: " + *message))
		}
		os.Exit(code)
	}
}
