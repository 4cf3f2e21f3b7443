// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"

	"celador.io/offline/cluster"
)

// NewPlugins implements cluster.Backend. It returns the plugins of kube-apiserver that read no
// objects but those of the cluster. Plugins that do nothing until an object configures them, such
// as LimitRanger, are left out.
func (backend) NewPlugins(objects cluster.ObjectReader) ([]admission.MutationInterface, error) {
	factory := newPluginInformers(objects)
	accounts := serviceaccount.NewServiceAccount()
	accounts.SetExternalKubeInformerFactory(factory)
	taints := nodetaint.NewPlugin()
	priorities := priority.NewPlugin()
	priorities.SetExternalKubeInformerFactory(factory)
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	tolerations.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	protection, err := newPlugin(storageobjectinuseprotection.Register, storageobjectinuseprotection.PluginName)
	if err != nil {
		return nil, err
	}
	return []admission.MutationInterface{accounts, taints, priorities, tolerations, protection}, nil
}

// newPlugin returns a plugin whose package exports nothing but the function that registers it.
func newPlugin(register func(*admission.Plugins), name string) (admission.MutationInterface, error) {
	plugins := admission.NewPlugins()
	register(plugins)
	plugin, err := plugins.InitPlugin(name, nil, admission.PluginInitializers{})
	if err != nil {
		return nil, err
	}
	return plugin.(admission.MutationInterface), nil
}
