// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin

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
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"

	"celador.io/offline/cluster"
)

// NewPlugins implements cluster.Types with the plugins of kube-apiserver that change what policies on Pods read most often:
// ServiceAccount and DefaultTolerationSeconds.
func (*types) NewPlugins(objects cluster.Objects) ([]admission.MutationInterface, error) {
	accounts := serviceaccount.NewServiceAccount()
	accounts.SetExternalKubeInformerFactory(accountInformers{objects: objects})
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	tolerations.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	return []admission.MutationInterface{accounts, tolerations}, nil
}

// accountInformers gives the plugin ServiceAccount the service accounts of a cluster, of which each one exists. The plugin asks the
// factory for their informer and lister only; other methods panic.
type accountInformers struct {
	informers.SharedInformerFactory
	objects cluster.Objects
}

func (f accountInformers) Core() coreinformers.Interface { return accountGroup{objects: f.objects} }

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
