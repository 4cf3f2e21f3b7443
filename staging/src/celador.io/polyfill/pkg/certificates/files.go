// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/klog/v2"
)

// Files is a Provider whose certificates are in the files tls.crt, tls.key and ca.crt of a directory,
// such as a mounted Secret of cert-manager. Whoever writes them renews them.
type Files struct {
	listeners
	serverName string
	serving    *dynamiccertificates.DynamicCertKeyPairContent
	authority  *dynamiccertificates.DynamicFileCAContent
	current    atomic.Pointer[tls.Certificate]
}

// NewFiles reads the files of the directory, and returns an error if a file is missing or invalid.
// namespace and service name the Service for which Check requires the certificate to be valid.
func NewFiles(dir, namespace, service string) (*Files, error) {
	serving, err := dynamiccertificates.NewDynamicServingContentFromFiles("serving-cert",
		filepath.Join(dir, corev1.TLSCertKey), filepath.Join(dir, corev1.TLSPrivateKeyKey))
	if err != nil {
		return nil, err
	}
	authority, err := dynamiccertificates.NewDynamicCAContentFromFile("ca-bundle", filepath.Join(dir, bundleKey))
	if err != nil {
		return nil, err
	}
	f := &Files{serverName: serverName(namespace, service), serving: serving, authority: authority}
	f.Enqueue()
	serving.AddListener(f)
	authority.AddListener(f)
	return f, nil
}

// Enqueue implements dynamiccertificates.Listener: it takes changed files over.
func (f *Files) Enqueue() {
	certificate, err := tls.X509KeyPair(f.serving.CurrentCertKeyContent())
	if err != nil { // the provider of the files has checked them
		klog.ErrorS(err, "Serving with the last certificate")
		return
	}
	f.current.Store(&certificate)
	f.notify()
}

// Run implements Provider.
func (f *Files) Run(ctx context.Context) {
	go f.authority.Run(ctx, 1)
	f.serving.Run(ctx, 1)
}

// GetCertificate implements Provider.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.current.Load(), nil
}

// CABundle implements Provider.
func (f *Files) CABundle() []byte { return f.authority.CurrentCABundleContent() }

// Check implements Provider.
func (f *Files) Check() error { return check(f.current.Load(), f.CABundle(), f.serverName) }
