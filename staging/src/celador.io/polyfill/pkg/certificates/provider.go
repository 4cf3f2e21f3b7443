// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates holds the serving certificate of the polyfill and the CA bundle by which API
// servers verify it. Secret makes and renews them in a Secret. Files follows the files of another
// issuer, such as cert-manager. Neither interrupts service when certificates change.
package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// A Provider has the current certificate and its CA bundle. Its methods are safe for concurrent use,
// except AddListener, which must be called before Run.
type Provider interface {
	// Run follows changes until ctx ends. It must be called once.
	Run(ctx context.Context)
	// GetCertificate is for the field of this name of tls.Config. It returns an error while there
	// is no certificate.
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// CABundle returns the PEM certificates for the caBundle of webhook configurations, or nil while
	// there is none. The caller must not change it.
	CABundle() []byte
	// AddListener adds a listener that is called after each change of certificate or bundle.
	dynamiccertificates.Notifier
	// Check returns an error if an API server that trusts CABundle would reject the certificate now.
	Check() error
}

var (
	_ Provider = (*Secret)(nil)
	_ Provider = (*Files)(nil)
)

// listeners implements dynamiccertificates.Notifier.
type listeners []dynamiccertificates.Listener

// AddListener implements Provider.
func (l *listeners) AddListener(listener dynamiccertificates.Listener) { *l = append(*l, listener) }

func (l listeners) notify() {
	for _, listener := range l {
		listener.Enqueue()
	}
}

// check verifies the certificate as an API server does.
func check(certificate *tls.Certificate, bundle []byte, serverName string) error {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("the CA bundle has no certificate")
	}
	for _, raw := range certificate.Certificate[1:] {
		intermediate, err := x509.ParseCertificate(raw)
		if err != nil {
			return fmt.Errorf("the chain of the serving certificate is broken: %w", err)
		}
		intermediates.AddCert(intermediate)
	}
	_, err := certificate.Leaf.Verify(x509.VerifyOptions{DNSName: serverName, Roots: roots, Intermediates: intermediates, CurrentTime: time.Now()})
	if err != nil {
		return fmt.Errorf("API servers reject the serving certificate: %w", err)
	}
	return nil
}
