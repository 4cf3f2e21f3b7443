// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	upstreampolicies "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"

	"celador.io/celador/plugin/pkg/admission/mutatingadmissionpolicy"
	"celador.io/celador/test/benchmark/api"
)

// CeladorMutations returns Celador's MutatingAdmissionPolicy plugin with the policies of a server.
// The plugin may not have read the schemas yet.
func CeladorMutations(server *api.Server) (*Engine, error) {
	plugin, err := mutatingadmissionpolicy.New(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// UpstreamMutations returns Kubernetes' MutatingAdmissionPolicy plugin with the policies of a
// server. The plugin may not have read the schemas yet.
func UpstreamMutations(server *api.Server) (*Engine, error) {
	plugin, err := upstreampolicies.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}
