// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/keyutil"
)

func TestCredentials(t *testing.T) {
	c, err := writeCredentials(t.TempDir(), 1234)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := config.Host, "https://127.0.0.1:1234"; got != want {
		t.Errorf("host is %q, want %q", got, want)
	}

	ca, err := os.ReadFile(c.servingCert)
	if err != nil {
		t.Fatal(err)
	}
	for source, pem := range map[string][]byte{"file": ca, "kubeconfig": config.CAData} {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			t.Fatalf("no certificate in the authority of the %s", source)
		}
		serving, err := tls.LoadX509KeyPair(c.servingCert, c.servingKey)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := serving.Leaf.Verify(x509.VerifyOptions{DNSName: "127.0.0.1", Roots: pool}); err != nil {
			t.Errorf("authority of the %s: %v", source, err)
		}
	}

	if _, err := keyutil.PrivateKeyFromFile(c.serviceAccountKey); err != nil {
		t.Error(err)
	}
	tokens, err := os.ReadFile(c.tokens)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(tokens), config.BearerToken+",admin,admin,system:masters\n"; got != want {
		t.Errorf("tokens are %q, want %q", got, want)
	}
	if config.TLSClientConfig.Insecure || len(config.BearerToken) < 20 || rest.IsConfigTransportTLS(*config) == false {
		t.Errorf("the kubeconfig does not protect the connection: %v", config)
	}
}
