// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"celador.io/polyfill/pkg/certificates"
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
