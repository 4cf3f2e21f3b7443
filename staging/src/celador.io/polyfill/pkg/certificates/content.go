// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// The keys of the Secret's data. The first certificate of bundleKey is the newest certificate
// authority, and authorityKey has its private key. The private keys of older authorities are not
// kept.
const (
	bundleKey    = "ca.crt"
	authorityKey = "ca.key"
)

// backdate is how far the clock of an API server or a replica may be behind that of the leader.
const backdate = time.Hour

// content is what a Secret holds. It is immutable.
type content struct {
	data        map[string][]byte
	authorities []*x509.Certificate // the newest first
	key         crypto.Signer       // of the newest authority
	serving     *tls.Certificate
}

// parse returns the content of a Secret's data. It returns an error unless the private keys belong
// to their certificates, and an authority of the bundle has signed the serving certificate. It
// accepts expired certificates: serving one is better than serving none, since clocks differ.
func parse(data map[string][]byte) (*content, error) {
	c := &content{data: map[string][]byte{}}
	for _, key := range []string{bundleKey, authorityKey, corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("%s is missing", key)
		}
		c.data[key] = data[key]
	}
	var err error
	if c.authorities, err = cert.ParseCertsPEM(data[bundleKey]); err != nil {
		return nil, fmt.Errorf("%s: %w", bundleKey, err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(data[authorityKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", authorityKey, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has a key of type %T, which cannot sign", authorityKey, key)
	}
	c.key = signer
	if public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(c.authorities[0].PublicKey) {
		return nil, fmt.Errorf("%s is not the key of the first certificate of %s", authorityKey, bundleKey)
	}
	serving, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", corev1.TLSCertKey, corev1.TLSPrivateKeyKey, err)
	}
	c.serving = &serving
	if !slices.ContainsFunc(c.authorities, c.signedBy) {
		return nil, fmt.Errorf("no certificate of %s has signed %s", bundleKey, corev1.TLSCertKey)
	}
	return c, nil
}

// signedBy reports whether the authority has signed the serving certificate.
func (c *content) signedBy(authority *x509.Certificate) bool {
	return c.serving.Leaf.CheckSignatureFrom(authority) == nil
}

// equal reports whether both have the same bytes.
func (c *content) equal(other *content) bool {
	return other != nil && maps.EqualFunc(c.data, other.data, bytes.Equal)
}

// newContent returns a first authority and a serving certificate that it has signed.
func newContent(o *Options, now time.Time) (*content, error) {
	c := &content{data: map[string][]byte{}}
	if err := c.addAuthority(o, now); err != nil {
		return nil, err
	}
	if err := c.addServing(o, now); err != nil {
		return nil, err
	}
	return parse(c.data)
}

// withAuthority returns a copy with one more authority.
func (c *content) withAuthority(o *Options, now time.Time) (*content, error) {
	copied := &content{data: maps.Clone(c.data), authorities: c.authorities}
	if err := copied.addAuthority(o, now); err != nil {
		return nil, err
	}
	return parse(copied.data)
}

// withServing returns a copy with another serving certificate, signed by the newest authority.
func (c *content) withServing(o *Options, now time.Time) (*content, error) {
	copied := &content{data: maps.Clone(c.data), authorities: c.authorities, key: c.key}
	if err := copied.addServing(o, now); err != nil {
		return nil, err
	}
	return parse(copied.data)
}

// withoutOldAuthorities returns a copy whose bundle has only the newest authority.
func (c *content) withoutOldAuthorities(*Options, time.Time) (*content, error) {
	data := maps.Clone(c.data)
	var err error
	if data[bundleKey], err = cert.EncodeCertificates(c.authorities[0]); err != nil {
		return nil, err
	}
	return parse(data)
}

func (c *content) addAuthority(o *Options, now time.Time) error {
	// Two authorities with one name make verifiers try both, so the name has the time.
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: fmt.Sprintf("%s-ca@%d", o.Service, now.Unix())},
		NotAfter: now.Add(o.AuthorityLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	authority, key, encoded, err := sign(template, nil, nil, now)
	if err != nil {
		return err
	}
	c.authorities = append([]*x509.Certificate{authority}, c.authorities...)
	if c.data[bundleKey], err = cert.EncodeCertificates(c.authorities...); err != nil {
		return err
	}
	c.key, c.data[authorityKey] = key, encoded
	return nil
}

func (c *content) addServing(o *Options, now time.Time) error {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: serverName(o.Namespace, o.Service)},
		DNSNames: o.dnsNames(),
		NotAfter: now.Add(o.ServingLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	serving, _, encoded, err := sign(template, c.authorities[0], c.key, now)
	if err != nil {
		return err
	}
	if c.data[corev1.TLSCertKey], err = cert.EncodeCertificates(serving); err != nil {
		return err
	}
	c.data[corev1.TLSPrivateKeyKey] = encoded
	return nil
}

// sign makes a private key, and a certificate for it that parent signs with parentKey. Without a
// parent, the certificate signs itself. sign also returns the key in PEM form. It sets NotBefore of
// template; the serial number is random.
func sign(template, parent *x509.Certificate, parentKey crypto.Signer, now time.Time) (*x509.Certificate, crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, nil, nil, err
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	template.NotBefore = now.Add(-backdate)
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, nil, nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return certificate, key, encoded, err
}
