// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	kubeoptions "celador.io/celador/pkg/kubeapiserver/options"
)

// NewOptions returns upstream's options with upstream's defaults and Celador's admission plugins.
// NewConfig also accepts upstream's own options.
func NewOptions() *options.ServerRunOptions {
	s := options.NewServerRunOptions()
	s.Admission.GenericAdmission.Plugins = kubeoptions.NewPlugins(s.Admission.GenericAdmission.Plugins, admission.PluginInitializers{})
	return s
}

// useOwnPlugins replaces the plugins in opts by Celador's, which initialize initializes, until the
// caller calls restore.
func useOwnPlugins(opts options.CompletedOptions, initialize admission.PluginInitializer) (restore func()) {
	if opts.Admission == nil || opts.Admission.GenericAdmission == nil {
		return func() {} // a server without admission
	}
	generic := opts.Admission.GenericAdmission
	original := generic.Plugins
	generic.Plugins = kubeoptions.NewPlugins(original, initialize)
	return func() { generic.Plugins = original }
}
