// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// maxLog is the number of bytes at the end of the log that are kept.
const maxLog = 16 << 10

// logTail keeps the last bytes that are written to it. It is safe for concurrent use.
type logTail struct {
	lock sync.Mutex
	text []byte
}

func (l *logTail) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text = append(l.text, p...)
	if len(l.text) > 2*maxLog {
		l.text = bytes.Clone(l.text[len(l.text)-maxLog:])
	}
	return len(p), nil
}

func (l *logTail) clear() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text = nil
}

func (l *logTail) last() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return string(l.text[max(0, len(l.text)-maxLog):])
}

func (l *logTail) tail() string {
	text := l.last()
	if text == "" {
		return ""
	}
	return "the last lines of the server's log:\n" + text
}

// LogAt runs do with the given verbosity of logs, and returns what servers log meanwhile, at most
// the last 16 KiB. Tests that call it must not run in parallel, because the verbosity is that of
// the process.
func LogAt(t *testing.T, verbosity int, do func()) string {
	t.Helper()
	logs := captureLogs()
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	before := flags.Lookup("v").Value.String()
	set := func(verbosity string) {
		if err := flags.Set("v", verbosity); err != nil {
			t.Fatal(err)
		}
	}
	// Lines that earlier calls logged look the same, and must not be returned.
	logs.clear()
	set(strconv.Itoa(verbosity))
	defer set(before)
	do()
	return logs.last()
}

// captureLogs makes klog write into a logTail, which it returns. All servers of the process share
// it. Fatal messages also go to standard error.
var captureLogs = sync.OnceValue(func() *logTail {
	captured := &logTail{}
	var output io.Writer = captured
	if os.Getenv("CELADOR_TEST_LOGS") != "" {
		output = io.MultiWriter(os.Stderr, captured)
	}
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(output)
	return captured
})
