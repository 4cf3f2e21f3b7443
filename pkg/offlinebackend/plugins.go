// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core"
	corev1informers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"

	"celador.io/offline/cluster"
)

// NewPlugins implements cluster.Backend with the plugins of kube-apiserver that need no more than
// the objects of a cluster, and that no object has to switch on.
func (backend) NewPlugins(objects cluster.Objects) ([]admission.MutationInterface, error) {
	factory := pluginInformers{objects: objects}
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

// newPlugin returns a plugin that its package only registers.
func newPlugin(register func(*admission.Plugins), name string) (admission.MutationInterface, error) {
	plugins := admission.NewPlugins()
	register(plugins)
	plugin, err := plugins.InitPlugin(name, nil, admission.PluginInitializers{})
	if err != nil {
		return nil, err
	}
	return plugin.(admission.MutationInterface), nil
}

// pluginInformers gives plugins the service accounts and the priority classes of a cluster, of
// which each one exists. Plugins ask the factory for their informers and listers only; other
// methods panic.
type pluginInformers struct {
	informers.SharedInformerFactory
	objects cluster.Objects
}

func (f pluginInformers) Core() coreinformers.Interface { return accountGroup{objects: f.objects} }

func (f pluginInformers) Scheduling() schedulinginformers.Interface {
	return classGroup{objects: f.objects}
}

type accountGroup struct {
	coreinformers.Interface
	objects cluster.Objects
}

func (g accountGroup) V1() corev1informers.Interface { return accountVersion{objects: g.objects} }

type accountVersion struct {
	corev1informers.Interface
	objects cluster.Objects
}

func (v accountVersion) ServiceAccounts() corev1informers.TypedServiceAccountInformer {
	return accountInformer{objects: v.objects}
}

type accountInformer struct {
	corev1informers.TypedServiceAccountInformer
	objects cluster.Objects
}

func (accountInformer) Informer() cache.SharedIndexInformer { return syncedInformer{} }

func (i accountInformer) Lister() corev1listers.ServiceAccountLister {
	return accountLister{objects: i.objects}
}

type syncedInformer struct{ cache.SharedIndexInformer }

func (syncedInformer) HasSynced() bool { return true }

type accountLister struct {
	corev1listers.ServiceAccountLister
	objects cluster.Objects
}

func (l accountLister) ServiceAccounts(namespace string) corev1listers.ServiceAccountNamespaceLister {
	return accountNamespaceLister{objects: l.objects, namespace: namespace}
}

type accountNamespaceLister struct {
	corev1listers.ServiceAccountNamespaceLister
	objects   cluster.Objects
	namespace string
}

// Get returns the service account of the cluster, or one without fields.
func (l accountNamespaceLister) Get(name string) (*corev1.ServiceAccount, error) {
	account, err := l.objects.GetServiceAccount(context.Background(), l.namespace, name)
	if apierrors.IsNotFound(err) {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}, nil
	}
	return account, err
}
