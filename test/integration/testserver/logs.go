// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"bytes"
	"flag"
	"os"
	"sync"

	"k8s.io/klog/v2"
)

// maxLog is how many bytes of the log are kept.
const maxLog = 16 << 10

// logTail keeps the end of what is written to it. Safe for concurrent use.
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

func (l *logTail) tail() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	text := l.text[max(0, len(l.text)-maxLog):]
	if len(text) == 0 {
		return ""
	}
	return "the last lines of the server's log:\n" + string(text)
}

// captureLogs lets klog write into the returned log, which all servers of the
// process share; fatal messages go to standard error as well.
var captureLogs = sync.OnceValue(func() *logTail {
	captured := &logTail{}
	if os.Getenv("CELADOR_TEST_LOGS") != "" {
		return captured
	}
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(captured)
	return captured
})
