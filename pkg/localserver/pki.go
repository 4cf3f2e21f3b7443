// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"
)

const (
	leafLifetime = 10 * 365 * 24 * time.Hour
	// renewBefore is the remaining lifetime below which a certificate is renewed at a start.
	renewBefore = 30 * 24 * time.Hour

	keyType = kubeadm.EncryptionAlgorithmECDSAP256

	// proxyClientName is the user as which the server authenticates itself to aggregated servers.
	proxyClientName = "front-proxy-client"
)

// servingNames holds the DNS names of the server on this machine and in the cluster.
var servingNames = []string{
	"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
}

// A pair holds the paths of a certificate and of its private key.
type pair struct{ cert, key string }

// pki holds the directory of a server's keys and certificates.
type pki struct{ dir string }

func (p pki) pair(name string) pair {
	return pair{cert: filepath.Join(p.dir, name+".crt"), key: filepath.Join(p.dir, name+".key")}
}

func (p pki) ca() pair                  { return p.pair("ca") }
func (p pki) serving() pair             { return p.pair("serving") }
func (p pki) admin() pair               { return p.pair("admin") }
func (p pki) proxyCA() pair             { return p.pair("front-proxy-ca") }
func (p pki) proxyClient() pair         { return p.pair("front-proxy-client") }
func (p pki) serviceAccountKey() string { return filepath.Join(p.dir, "service-account.key") }

// ensure creates missing keys and certificates. It never replaces the certificate authorities and
// the service account key. It replaces other certificates that are about to expire or that lack an
// address in serving.
func (p pki) ensure(serving []net.IP) error {
	ca, err := p.ensureAuthority(p.ca(), "celador-ca")
	if err != nil {
		return err
	}
	// Clients with a certificate of this authority may act as any user, so it signs no others.
	proxyCA, err := p.ensureAuthority(p.proxyCA(), "front-proxy-ca")
	if err != nil {
		return err
	}
	if err := proxyCA.ensureLeaf(p.proxyClient(), cert.Config{
		CommonName: proxyClientName,
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return err
	}
	if err := p.ensureServiceAccountKey(); err != nil {
		return err
	}
	if err := ca.ensureLeaf(p.serving(), cert.Config{
		CommonName: "kube-apiserver",
		AltNames:   cert.AltNames{DNSNames: servingNames, IPs: serving},
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}); err != nil {
		return err
	}
	return ca.ensureLeaf(p.admin(), cert.Config{
		CommonName:   "celador-admin",
		Organization: []string{"system:masters"},
		Usages:       []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (p pki) ensureAuthority(files pair, name string) (*authority, error) {
	// The certificate is written after its key. If there is none, nothing has been signed with the
	// key, and both can be replaced.
	if _, err := os.Stat(files.cert); errors.Is(err, fs.ErrNotExist) {
		// The number makes the name unique, so that clients do not confuse the authorities of
		// different data directories.
		config := cert.Config{CommonName: fmt.Sprintf("%s@%d", name, time.Now().Unix())}
		ca, key, err := pkiutil.NewCertificateAuthority(&pkiutil.CertConfig{Config: config, EncryptionAlgorithm: keyType})
		if err != nil {
			return nil, err
		}
		return &authority{cert: ca, key: key}, files.write(ca, key)
	}

	loaded, err := tls.LoadX509KeyPair(files.cert, files.key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority in %s cannot be read: %w: restore it, or delete the directory to get new credentials", p.dir, err)
	}
	if expired := loaded.Leaf.NotAfter; time.Now().After(expired) {
		return nil, fmt.Errorf("certificate authority in %s expired on %s: delete the directory to get new credentials", p.dir, expired.Format(time.DateOnly))
	}
	key, ok := loaded.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("certificate authority in %s has a key that cannot sign: delete the directory to get new credentials", p.dir)
	}
	return &authority{cert: loaded.Leaf, key: key}, nil
}

func (p pki) ensureServiceAccountKey() error {
	path := p.serviceAccountKey()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		if _, err := keyutil.PrivateKeyFromFile(path); err != nil {
			return fmt.Errorf("service account key cannot be read: %w: restore it, or delete it to get a new one", err)
		}
		return nil
	}
	key, err := pkiutil.NewPrivateKey(keyType)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

// ensureLeaf keeps the pair on disk if this authority has signed it, it is not about to expire, and
// it has the names, addresses and usages of config. Otherwise it issues a new certificate.
func (a *authority) ensureLeaf(files pair, config cert.Config) error {
	if existing, err := tls.LoadX509KeyPair(files.cert, files.key); err == nil && a.covers(existing.Leaf, config) {
		return nil
	}
	leaf, key, err := pkiutil.NewCertAndKey(a.cert, a.key, &pkiutil.CertConfig{Config: config, NotAfter: time.Now().Add(leafLifetime), EncryptionAlgorithm: keyType})
	if err != nil {
		return err
	}
	return files.write(leaf, key)
}

func (a *authority) covers(leaf *x509.Certificate, config cert.Config) bool {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, KeyUsages: config.Usages, CurrentTime: time.Now().Add(renewBefore),
	})
	names := slices.Clone(config.AltNames.DNSNames)
	for _, ip := range config.AltNames.IPs {
		names = append(names, ip.String())
	}
	unnamed := func(name string) bool { return leaf.VerifyHostname(name) != nil }
	return err == nil && !slices.ContainsFunc(names, unnamed)
}

func (f pair) write(c *x509.Certificate, key crypto.Signer) error {
	if err := writeKey(f.key, key); err != nil {
		return err
	}
	encoded, err := cert.EncodeCertificates(c)
	if err != nil {
		return err
	}
	return writeFile(f.cert, encoded)
}

func writeKey(path string, key crypto.Signer) error {
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return writeFile(path, encoded)
}
