// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// The klog verbosities of etcd's own messages.
const (
	etcdInfoVerbosity  = 3
	etcdDebugVerbosity = 6
)

// newEtcdLogger returns a logger for etcd that writes to klog. Where etcd would end the process, by
// exit or panic, the logger calls failed and ends only the goroutine. failed must be safe for
// concurrent use.
func newEtcdLogger(failed func(error)) *zap.Logger {
	return zap.New(klogCore{},
		zap.WithFatalHook(terminalHook{failed}), zap.WithPanicHook(terminalHook{failed}))
}

// A terminalHook handles messages after which etcd would end the process.
type terminalHook struct{ failed func(error) }

func (h terminalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	h.failed(fmt.Errorf("%s%s", entry.Message, describe(fields)))
	runtime.Goexit()
}

// describe formats the fields that explain a failure: the path and the error.
func describe(fields []zapcore.Field) string {
	values := valuesOf(fields)
	var text strings.Builder
	if path, ok := values["path"]; ok {
		fmt.Fprintf(&text, " (%v)", path)
	}
	if err, ok := values["error"]; ok {
		fmt.Fprintf(&text, ": %v", err)
	}
	return text.String()
}

// valuesOf returns the values of fields by their keys.
func valuesOf(fields []zapcore.Field) map[string]any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	return encoder.Fields
}

// A klogCore is a zapcore.Core that writes to klog. fields holds the fields that With has added.
type klogCore struct{ fields []zapcore.Field }

func (klogCore) Enabled(level zapcore.Level) bool {
	switch {
	case level >= zapcore.WarnLevel:
		return true
	case level == zapcore.InfoLevel:
		return klog.V(etcdInfoVerbosity).Enabled()
	default:
		return klog.V(etcdDebugVerbosity).Enabled()
	}
}

func (c klogCore) With(fields []zapcore.Field) zapcore.Core {
	return klogCore{fields: slices.Concat(c.fields, fields)}
}

func (c klogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c klogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := valuesOf(slices.Concat(c.fields, fields))
	var keysAndValues []any
	for _, key := range slices.Sorted(maps.Keys(values)) {
		keysAndValues = append(keysAndValues, key, values[key])
	}
	message := "etcd: " + entry.Message
	switch {
	case entry.Level >= zapcore.ErrorLevel:
		klog.ErrorS(nil, message, keysAndValues...)
	case entry.Level == zapcore.WarnLevel:
		// klog has no structured warnings.
		klog.Warningln(append([]any{message}, keysAndValues...)...)
	default:
		klog.InfoS(message, keysAndValues...)
	}
	return nil
}

func (klogCore) Sync() error {
	klog.Flush()
	return nil
}
