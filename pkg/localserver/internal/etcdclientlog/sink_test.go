// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclientlog

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

func TestClientLogsToKlog(t *testing.T) {
	var seen []string
	klog.SetLogger(funcr.New(func(_, args string) { seen = append(seen, args) }, funcr.Options{Verbosity: verbosity}))
	t.Cleanup(klog.ClearLogger)
	var level klog.Level
	if err := level.Set("2"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = level.Set("0") })

	logger, err := logutil.CreateDefaultZapLogger(zapcore.InfoLevel)
	if err != nil {
		t.Fatal(err)
	}
	logger.Warn("retrying")

	if len(seen) != 1 || !strings.Contains(seen[0], "retrying") {
		t.Errorf("klog got %q, want one entry with the client's message", seen)
	}
}
