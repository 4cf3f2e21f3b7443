// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newPKI(t *testing.T, serving ...net.IP) pki {
	t.Helper()
	files := pki{t.TempDir()}
	if err := files.ensure(serving); err != nil {
		t.Fatal(err)
	}
	return files
}

func leaf(t *testing.T, files pair) *x509.Certificate {
	t.Helper()
	loaded, err := tls.LoadX509KeyPair(files.cert, files.key)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Leaf
}

// contents returns the contents of the files in a directory, by file name.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestPKIVerifies(t *testing.T) {
	files := newPKI(t, loopback, net.IPv6loopback)
	roots := x509.NewCertPool()
	roots.AddCert(leaf(t, files.ca()))

	serving := leaf(t, files.serving())
	for _, name := range []string{"127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default.svc"} {
		if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("serving certificate: %v", err)
		}
	}
	if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, DNSName: "example.com"}); err == nil {
		t.Error("serving certificate is valid for a name that is not the server's")
	}

	admin := leaf(t, files.admin())
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := admin.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: client}); err != nil {
		t.Errorf("admin certificate: %v", err)
	}
	if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: client}); err == nil {
		t.Error("serving certificate also identifies a client")
	}
	if !slices.Equal(admin.Subject.Organization, []string{"system:masters"}) {
		t.Errorf("admin is in the groups %q", admin.Subject.Organization)
	}

	proxy := leaf(t, files.proxyClient())
	if _, err := proxy.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: client}); err == nil {
		t.Error("the certificate of the proxy also identifies a client of the server")
	}
	proxyRoots := x509.NewCertPool()
	proxyRoots.AddCert(leaf(t, files.proxyCA()))
	if _, err := proxy.Verify(x509.VerifyOptions{Roots: proxyRoots, KeyUsages: client}); err != nil {
		t.Errorf("certificate of the proxy: %v", err)
	}
	if _, err := admin.Verify(x509.VerifyOptions{Roots: proxyRoots, KeyUsages: client}); err == nil {
		t.Error("the admin may act as the proxy")
	}
}

func TestPKIKeysArePrivate(t *testing.T) {
	files := newPKI(t)
	for name := range contents(t, files.dir) {
		info, err := os.Stat(filepath.Join(files.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestPKISecondStart(t *testing.T) {
	ca := []string{"ca.crt", "ca.key", "service-account.key", "front-proxy-ca.crt", "front-proxy-ca.key", "front-proxy-client.crt", "front-proxy-client.key"}
	serving := []string{"serving.crt", "serving.key"}
	admin := []string{"admin.crt", "admin.key"}
	for _, test := range []struct {
		name    string
		change  func(t *testing.T, files pki)
		serving []net.IP
		kept    []string
	}{{
		name: "keeps everything",
		kept: slices.Concat(ca, serving, admin),
	}, {
		name:    "names a new address",
		serving: []net.IP{net.IPv4(192, 0, 2, 1)},
		kept:    slices.Concat(ca, admin),
	}, {
		name: "replaces an unreadable certificate",
		change: func(t *testing.T, files pki) {
			write(t, files.admin().cert, "garbage")
		},
		kept: slices.Concat(ca, serving),
	}, {
		name: "replaces a missing key",
		change: func(t *testing.T, files pki) {
			if err := os.Remove(files.serving().key); err != nil {
				t.Fatal(err)
			}
		},
		kept: slices.Concat(ca, admin),
	}, {
		name: "adds the certificates of the proxy to an older directory",
		change: func(t *testing.T, files pki) {
			for _, path := range []string{files.proxyCA().cert, files.proxyCA().key, files.proxyClient().cert, files.proxyClient().key} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		},
		kept: slices.Concat([]string{"ca.crt", "ca.key", "service-account.key"}, serving, admin),
	}, {
		name: "replaces a certificate of another authority",
		change: func(t *testing.T, files pki) {
			other := newPKI(t, loopback)
			for path, from := range map[string]string{files.serving().cert: other.serving().cert, files.serving().key: other.serving().key} {
				content, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				write(t, path, string(content))
			}
		},
		kept: slices.Concat(ca, admin),
	}} {
		t.Run(test.name, func(t *testing.T) {
			files := newPKI(t, loopback)
			if test.change != nil {
				test.change(t, files)
			}
			before := contents(t, files.dir)
			if err := files.ensure(append(test.serving, loopback)); err != nil {
				t.Fatal(err)
			}
			for name, content := range contents(t, files.dir) {
				if kept := bytes.Equal(content, before[name]); kept != slices.Contains(test.kept, name) {
					t.Errorf("%s kept: %v", name, kept)
				}
			}
			for _, name := range append(test.serving, loopback) {
				if err := leaf(t, files.serving()).VerifyHostname(name.String()); err != nil {
					t.Error(err)
				}
			}
			leaf(t, files.admin())
			leaf(t, files.proxyClient())
		})
	}
}

func TestPKIRefusesDamage(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, files pki)
		want   string
	}{{
		name:   "garbage authority",
		damage: func(t *testing.T, files pki) { write(t, files.ca().cert, "garbage") },
		want:   "certificate authority in DIR cannot be read",
	}, {
		name:   "garbage authority of the proxy",
		damage: func(t *testing.T, files pki) { write(t, files.proxyCA().cert, "garbage") },
		want:   "certificate authority in DIR cannot be read",
	}, {
		name: "authority without key",
		damage: func(t *testing.T, files pki) {
			if err := os.Remove(files.ca().key); err != nil {
				t.Fatal(err)
			}
		},
		want: "certificate authority in DIR cannot be read",
	}, {
		name:   "garbage service account key",
		damage: func(t *testing.T, files pki) { write(t, files.serviceAccountKey(), "garbage") },
		want:   "service account key cannot be read: error reading private key file DIR/service-account.key",
	}} {
		t.Run(test.name, func(t *testing.T) {
			files := newPKI(t, loopback)
			test.damage(t, files)
			err := files.ensure([]net.IP{loopback})
			if want := strings.ReplaceAll(test.want, "DIR", files.dir); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
