// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclientlog redirects the log of kube-apiserver's etcd client to klog. By default the
// client writes JSON to stderr at any verbosity.
//
// The client creates its logger during package initialization, from a configuration that only a
// package initialized earlier can change. Go initializes independent packages in the order of
// import paths. This package imports no k8s.io package except klog, so it is initialized before
// kube-apiserver's packages.
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
		// If the scheme is already registered, the client keeps its default output.
		return
	}
	logutil.DefaultZapLoggerConfig.OutputPaths = []string{scheme + ":"}
}

// A sink writes each entry to klog.
type sink struct{}

func (sink) Write(entry []byte) (int, error) {
	klog.V(verbosity).InfoS("etcd client", "entry", strings.TrimSuffix(string(entry), "\n"))
	return len(entry), nil
}

func (sink) Sync() error  { return nil }
func (sink) Close() error { return nil }
