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

// klogHeader matches the header of a fatal klog entry.
var klogHeader = regexp.MustCompile(`^F\d{4} [^\]]*\] `)

// discardLogs discards klog's output. When a fatal entry ends the process, discardLogs prints its
// message in one line.
func discardLogs() {
	// Other goroutines may write fatal entries before the first ends the process.
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
