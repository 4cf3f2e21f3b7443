// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// credentials holds the paths of the keys and certificates of a cluster.
type credentials struct {
	// servingCert has the certificate of the server, followed by that of its authority.
	servingCert, servingKey string
	serviceAccountKey       string
	tokens                  string
	kubeconfig              string
}

// writeCredentials creates credentials in dir, for a server on 127.0.0.1 at port and for its
// administrator.
func writeCredentials(dir string, port int) (credentials, error) {
	c := credentials{
		servingCert:       filepath.Join(dir, "serving.crt"),
		servingKey:        filepath.Join(dir, "serving.key"),
		serviceAccountKey: filepath.Join(dir, "service-account.key"),
		tokens:            filepath.Join(dir, "tokens.csv"),
		kubeconfig:        filepath.Join(dir, "kubeconfig"),
	}
	servingCert, servingKey, err := cert.GenerateSelfSignedCertKey("127.0.0.1",
		[]net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost", "kubernetes.default.svc"})
	if err != nil {
		return credentials{}, fmt.Errorf("cannot make a serving certificate: %w", err)
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return credentials{}, fmt.Errorf("cannot make a key for service accounts: %w", err)
	}
	token := rand.Text()

	config := clientcmdapi.NewConfig()
	config.Clusters["conformance"] = &clientcmdapi.Cluster{
		Server: fmt.Sprintf("https://127.0.0.1:%d", port), CertificateAuthorityData: servingCert,
	}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["conformance"] = &clientcmdapi.Context{Cluster: "conformance", AuthInfo: "admin"}
	config.CurrentContext = "conformance"

	return c, errors.Join(
		clientcmd.WriteToFile(*config, c.kubeconfig),
		os.WriteFile(c.servingCert, servingCert, 0o600),
		os.WriteFile(c.servingKey, servingKey, 0o600),
		os.WriteFile(c.serviceAccountKey, serviceAccountKey, 0o600),
		os.WriteFile(c.tokens, []byte(token+",admin,admin,system:masters\n"), 0o600),
	)
}
