// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"errors"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The names of the entries in the kubeconfig.
const (
	kubeconfigCluster = "celador"
	kubeconfigUser    = "celador-admin"
)

// adminConfig returns the configuration of the admin's client for the server at url.
func adminConfig(url string, files pki) (*rest.Config, error) {
	ca, caErr := os.ReadFile(files.ca().cert)
	adminCert, certErr := os.ReadFile(files.admin().cert)
	adminKey, keyErr := os.ReadFile(files.admin().key)
	return &rest.Config{
		Host:            url,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: adminCert, KeyData: adminKey},
	}, errors.Join(caErr, certErr, keyErr)
}

// writeKubeconfig writes the admin's configuration, with embedded credentials, to the kubeconfig at
// path. It keeps other settings of an existing kubeconfig, such as the namespace of the context.
func writeKubeconfig(path string, admin *rest.Config) error {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		config = clientcmdapi.NewConfig()
	}
	config.Clusters[kubeconfigCluster] = &clientcmdapi.Cluster{
		Server: admin.Host, CertificateAuthorityData: admin.CAData,
	}
	config.AuthInfos[kubeconfigUser] = &clientcmdapi.AuthInfo{
		ClientCertificateData: admin.CertData, ClientKeyData: admin.KeyData,
	}
	context := config.Contexts[kubeconfigCluster]
	if context == nil {
		context = clientcmdapi.NewContext()
		config.Contexts[kubeconfigCluster] = context
	}
	context.Cluster, context.AuthInfo = kubeconfigCluster, kubeconfigUser
	if config.CurrentContext == "" {
		config.CurrentContext = kubeconfigCluster
	}
	encoded, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return writeFile(path, encoded)
}
