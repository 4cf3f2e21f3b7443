// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver serves CustomResourceDefinitions and custom resources.
package apiserver

import (
	"fmt"
	"net/http"
	"time"

	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// New returns a server of CustomResourceDefinitions and custom resources.
func New(config upstream.CompletedConfig, delegate genericapiserver.DelegationTarget) (*upstream.CustomResourceDefinitions, error) {
	return config.New(delegate)
}
