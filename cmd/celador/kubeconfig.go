// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/celador/pkg/localserver"
)

// restConfig returns the connection that flags select, as kubectl does. If there is no kubeconfig
// and the process does not run in a pod, it returns the connection to the server of celador serve
// instead of one to localhost:8080.
func restConfig(flags *genericclioptions.ConfigFlags) (*rest.Config, error) {
	if *flags.KubeConfig == "" && !hasKubeconfig() {
		path := localserver.KubeconfigPath(defaultDataDir())
		if _, err := os.Stat(path); err != nil {
			return nil, unusable("no cluster to read: there is neither a kubeconfig in $%s or %s nor one of celador serve in %s; set --kubeconfig, start celador serve, or name files",
				clientcmd.RecommendedConfigPathEnvVar, clientcmd.RecommendedHomeFile, path)
		}
		*flags.KubeConfig = path
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, unusable("%w", err)
	}
	return config, nil
}

// hasKubeconfig reports whether the environment, the home directory or the pod of this process
// configures a cluster. A kubeconfig that cannot be read counts, because its error is the user's to
// see.
func hasKubeconfig() bool {
	if _, err := rest.InClusterConfig(); err == nil {
		return true
	}
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	return err != nil || len(config.Clusters) > 0 || len(config.Contexts) > 0
}
