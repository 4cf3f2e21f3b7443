// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	kubeoptions "celador.io/celador/pkg/kubeapiserver/options"
)

// NewOptions returns upstream's options with upstream's defaults and Celador's
// admission plugins. NewConfig accepts any options of this type, whether they
// come from here or from upstream.
func NewOptions() *options.ServerRunOptions {
	s := options.NewServerRunOptions()
	s.Admission.GenericAdmission.Plugins = kubeoptions.NewPlugins(s.Admission.GenericAdmission.Plugins, admission.PluginInitializers{})
	return s
}

// lendOwnPlugins puts Celador's plugins, bound to initialize, into opts until giveBack.
func lendOwnPlugins(opts options.CompletedOptions, initialize admission.PluginInitializer) (giveBack func()) {
	if opts.Admission == nil || opts.Admission.GenericAdmission == nil {
		return func() {} // a server without admission
	}
	generic := opts.Admission.GenericAdmission
	theirs := generic.Plugins
	generic.Plugins = kubeoptions.NewPlugins(theirs, initialize)
	return func() { generic.Plugins = theirs }
}
