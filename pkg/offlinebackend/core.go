// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"errors"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	kubecore "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/kubelet/client"
	endpointsstore "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	limitrangestore "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	pvstore "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	pvcstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplatestore "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	controllerstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	corerest "k8s.io/kubernetes/pkg/registry/core/rest"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
	accountstore "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"

	"celador.io/offline/cluster"
)

// coreGroup provides the core group. The provider of kube-apiserver needs etcd, and informers for
// the allocators of Services, and neither exists here. So coreGroup uses the provider for control
// planes without nodes (corerest.GenericConfig), which needs neither, and adds the resources that
// only the provider of kube-apiserver has.
type coreGroup struct {
	options cluster.GroupOptions
}

// GroupName implements provider.
func (coreGroup) GroupName() string { return kubecore.GroupName }

// NewRESTStorage implements provider.
func (c coreGroup) NewRESTStorage(enabled serverstorage.APIResourceConfigSource, getter generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	config := corerest.GenericConfig{EventTTL: eventTTL}
	group, err := config.NewRESTStorage(enabled, getter)
	if err != nil {
		return group, err
	}
	return group, c.add(group.VersionedResourcesStorageMap["v1"], getter)
}

// add adds the resources that only control planes with nodes have, such as pods. It replaces
// serviceaccounts, which the provider serves without the subresource token.
func (c coreGroup) add(storage map[string]rest.Storage, getter generic.RESTOptionsGetter) error {
	var errs []error
	check := func(err error) { errs = append(errs, err) }

	templates, err := podtemplatestore.NewREST(getter)
	check(err)
	limits, err := limitrangestore.NewREST(getter)
	check(err)
	volumes, volumeStatus, err := pvstore.NewREST(getter)
	check(err)
	claims, claimStatus, err := pvcstore.NewREST(getter)
	check(err)
	endpoints, err := endpointsstore.NewREST(getter)
	check(err)
	controllers, err := controllerstore.NewStorage(getter)
	check(err)
	nodes, err := nodestore.NewStorage(getter, client.KubeletClientConfig{}, http.DefaultTransport)
	check(err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	pods, err := podstore.NewStorage(getter, nodes.KubeletConnectionInfo, http.DefaultTransport, noBudgets{}, c.options.Authorizer)
	if err != nil {
		return err
	}
	accounts, err := accountstore.NewREST(getter, noTokens{}, authenticator.Audiences{issuer}, authorizerfactory.NewAlwaysAllowAuthorizer(), 0, pods.Pod.Store,
		storage["secrets"].(rest.Getter), nodes.Node.Store, noWebhooks[admissionregistrationv1.ValidatingWebhookConfiguration]{},
		noWebhooks[admissionregistrationv1.MutatingWebhookConfiguration]{}, extendExpiration, maxExtendedExpiration)
	if err != nil {
		return err
	}
	ports, err := portallocator.New(nodePorts, newPorts)
	if err != nil {
		return err
	}
	services, serviceStatus, serviceProxy, err := servicestore.NewREST(getter, kubecore.IPv4Protocol, serviceAddresses, ports, nil, pods.Pod, http.DefaultTransport)
	if err != nil {
		return err
	}

	for path, s := range map[string]rest.Storage{
		"bindings":                      pods.LegacyBinding,
		"endpoints":                     endpoints,
		"limitranges":                   limits,
		"nodes":                         nodes.Node,
		"nodes/proxy":                   nodes.Proxy,
		"nodes/status":                  nodes.Status,
		"persistentvolumeclaims":        claims,
		"persistentvolumeclaims/status": claimStatus,
		"persistentvolumes":             volumes,
		"persistentvolumes/status":      volumeStatus,
		"pods":                          pods.Pod,
		"pods/attach":                   pods.Attach,
		"pods/binding":                  pods.Binding,
		"pods/ephemeralcontainers":      pods.EphemeralContainers,
		"pods/eviction":                 pods.Eviction,
		"pods/exec":                     pods.Exec,
		"pods/log":                      pods.Log,
		"pods/portforward":              pods.PortForward,
		"pods/proxy":                    pods.Proxy,
		"pods/resize":                   pods.Resize,
		"pods/status":                   pods.Status,
		"podtemplates":                  templates,
		"replicationcontrollers":        controllers.Controller,
		"replicationcontrollers/scale":  controllers.Scale,
		"replicationcontrollers/status": controllers.Status,
		"serviceaccounts":               accounts,
		"serviceaccounts/token":         accounts.Token,
		"services":                      services,
		"services/proxy":                serviceProxy,
		"services/status":               serviceStatus,
	} {
		storage[path] = s
	}
	return nil
}
