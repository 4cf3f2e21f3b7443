// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"fmt"
	"time"
)

// Options say for which Service certificates are made, and when they are renewed. Certificates and
// certificate authorities are renewed after two thirds of their lifetime.
type Options struct {
	// Namespace and Service are the names of the Service that API servers call.
	Namespace, Service string
	// AuthorityLifetime is how long a new certificate authority is valid.
	AuthorityLifetime time.Duration
	// ServingLifetime is how long a new serving certificate is valid.
	ServingLifetime time.Duration
	// Propagation is how long API servers may take to see a change of the webhook configurations, and
	// replicas to see a change of the Secret. Both halves of a renewal of the certificate authority
	// wait for it: no certificate is signed by the new authority before, and the old authority stays
	// in the bundle that long after the first such certificate.
	Propagation time.Duration
}

// NewOptions returns options with the default times: ten years, one year and ten minutes.
func NewOptions(namespace, service string) Options {
	const year = 365 * 24 * time.Hour
	return Options{Namespace: namespace, Service: service, AuthorityLifetime: 10 * year, ServingLifetime: year, Propagation: 10 * time.Minute}
}

// Validate returns an error if a certificate could expire before its successor is in use.
func (o *Options) Validate() error {
	switch {
	case o.Namespace == "" || o.Service == "":
		return fmt.Errorf("certificates need the namespace and the name of the Service, not %q and %q", o.Namespace, o.Service)
	case o.Propagation <= 0:
		return fmt.Errorf("the propagation time of certificates is %s and must be positive", o.Propagation)
	case o.ServingLifetime <= 6*o.Propagation:
		return fmt.Errorf("the lifetime of serving certificates is %s and must be longer than six times the propagation time, %s", o.ServingLifetime, o.Propagation)
	case o.AuthorityLifetime < o.ServingLifetime:
		return fmt.Errorf("the lifetime of the certificate authority is %s and must not be shorter than that of serving certificates, %s", o.AuthorityLifetime, o.ServingLifetime)
	}
	return nil
}

// secretName is the name of the Secret with the certificates.
func (o *Options) secretName() string { return o.Service + "-certificates" }

// serverName is the name by which API servers verify the serving certificate of a Service.
func serverName(namespace, service string) string { return service + "." + namespace + ".svc" }

// dnsNames are the names in serving certificates. API servers use the first.
func (o *Options) dnsNames() []string {
	host := serverName(o.Namespace, o.Service)
	return []string{host, o.Service, o.Service + "." + o.Namespace, host + ".cluster.local"}
}
