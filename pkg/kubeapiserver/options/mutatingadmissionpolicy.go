// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"io"

	"k8s.io/apiserver/pkg/admission"
	policyconfig "k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
)

// registerMutatingAdmissionPolicy keeps the name MutatingAdmissionPolicy valid in
// flags and configuration files with a plugin that handles no request: the kind
// is not served, and upstream's plugin would wait for it forever and meanwhile
// refuse every write.
func registerMutatingAdmissionPolicy(plugins *admission.Plugins) {
	plugins.Register(mutating.PluginName, func(file io.Reader) (admission.Interface, error) {
		config, err := policyconfig.LoadMutatingConfig(file)
		if err != nil {
			return nil, err
		}
		if config.StaticManifestsDir != "" {
			return nil, fmt.Errorf("staticManifestsDir: %q: mutating policies are not supported, remove the field", config.StaticManifestsDir)
		}
		return admission.NewHandler(), nil
	})
}
