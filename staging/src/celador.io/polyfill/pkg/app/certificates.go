// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"net/http"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"celador.io/polyfill/pkg/certificates"
	"celador.io/polyfill/pkg/serving"
)

// newCertificates returns the provider of the serving certificate, and what the leader does for it.
func newCertificates(o *Options, c *clients) (provider certificates.Provider, lead func(context.Context, certificates.Registered), err error) {
	if o.CertDir != "" {
		provider, err = certificates.NewFiles(o.CertDir, o.Namespace, o.ServiceName)
		return provider, func(context.Context, certificates.Registered) {}, err
	}
	options := o.Certificates
	options.Namespace, options.Service = o.Namespace, o.ServiceName
	secret, err := certificates.NewSecret(c.core, options)
	if err != nil {
		return nil, nil, err
	}
	return secret, secret.Rotate, nil
}

// authenticate returns a handler that passes requests to h only from clients that have a
// certificate of an authority in --client-ca-file, and the tls.Config.ClientAuth with which the
// server requests this certificate. It reloads the file until ctx ends. Without the file, it
// returns h, which answers everybody.
func authenticate(ctx context.Context, o *Options, h http.Handler) (http.Handler, tls.ClientAuthType, error) {
	if o.ClientCAFile == "" {
		return h, tls.NoClientCert, nil
	}
	authority, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", o.ClientCAFile)
	if err != nil {
		return nil, 0, err
	}
	go authority.Run(ctx, 1)
	return serving.WithClientCertificate(h, authority.VerifyOptions), tls.RequestClientCert, nil
}
