// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclientlog makes kube-apiserver's etcd client log to klog; otherwise it writes JSON to stderr whatever
// the verbosity. The client builds its logger while packages are initialized, from a configuration that only a package
// initialized earlier can change. Go initializes what is ready in the order of import paths, so this package, which
// needs nothing of k8s.io but klog, comes before kube-apiserver's.
package etcdclientlog

import (
	"net/url"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
)

const (
	scheme    = "klog"
	verbosity = 2
)

func init() {
	if err := zap.RegisterSink(scheme, func(*url.URL) (zap.Sink, error) { return sink{}, nil }); err != nil {
		// Somebody else has the name: the client writes where it always did.
		return
	}
	logutil.DefaultZapLoggerConfig.OutputPaths = []string{scheme + ":"}
}

// sink writes each entry as a message to klog.
type sink struct{}

func (sink) Write(entry []byte) (int, error) {
	klog.V(verbosity).InfoS("etcd client", "entry", strings.TrimSuffix(string(entry), "\n"))
	return len(entry), nil
}

func (sink) Sync() error  { return nil }
func (sink) Close() error { return nil }
