// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	authenticationrest "k8s.io/kubernetes/pkg/registry/authentication/rest"
	authorizationrest "k8s.io/kubernetes/pkg/registry/authorization/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	certificatesrest "k8s.io/kubernetes/pkg/registry/certificates/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	flowcontrolrest "k8s.io/kubernetes/pkg/registry/flowcontrol/rest"
	lifecyclerest "k8s.io/kubernetes/pkg/registry/lifecycle/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	noderest "k8s.io/kubernetes/pkg/registry/node/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	resourcerest "k8s.io/kubernetes/pkg/registry/resource/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"
	svmrest "k8s.io/kubernetes/pkg/registry/storagemigration/rest"

	"celador.io/offline/cluster"

	admissionregistrationrest "celador.io/celador/pkg/registry/admissionregistration/rest"
)

type provider = controlplaneapiserver.RESTStorageProvider

// providers maps the name of each group to a function that returns the provider of its registries.
var providers = map[string]func(cluster.GroupOptions) provider{
	"":                             func(o cluster.GroupOptions) provider { return coreGroup{o} },
	"admissionregistration.k8s.io": newAdmissionRegistration,
	"apps":                         func(cluster.GroupOptions) provider { return appsrest.StorageProvider{} },
	"authentication.k8s.io": func(cluster.GroupOptions) provider {
		return authenticationrest.RESTStorageProvider{Authenticator: noTokens{}, APIAudiences: authenticator.Audiences{issuer}}
	},
	"authorization.k8s.io": func(o cluster.GroupOptions) provider {
		return authorizationrest.RESTStorageProvider{Authorizer: o.Reviewer, RuleResolver: o.Reviewer}
	},
	"autoscaling": func(cluster.GroupOptions) provider { return autoscalingrest.RESTStorageProvider{} },
	"batch":       func(cluster.GroupOptions) provider { return batchrest.RESTStorageProvider{} },
	"certificates.k8s.io": func(o cluster.GroupOptions) provider {
		return certificatesrest.RESTStorageProvider{Authorizer: o.Authorizer}
	},
	"coordination.k8s.io":          func(cluster.GroupOptions) provider { return coordinationrest.RESTStorageProvider{} },
	"discovery.k8s.io":             func(cluster.GroupOptions) provider { return discoveryrest.StorageProvider{} },
	"events.k8s.io":                func(cluster.GroupOptions) provider { return eventsrest.RESTStorageProvider{TTL: eventTTL} },
	"flowcontrol.apiserver.k8s.io": func(cluster.GroupOptions) provider { return flowcontrolrest.RESTStorageProvider{} },
	"lifecycle.k8s.io":             func(cluster.GroupOptions) provider { return lifecyclerest.RESTStorageProvider{} },
	"networking.k8s.io":            func(cluster.GroupOptions) provider { return networkingrest.RESTStorageProvider{} },
	"node.k8s.io":                  func(cluster.GroupOptions) provider { return noderest.RESTStorageProvider{} },
	"policy":                       func(cluster.GroupOptions) provider { return policyrest.RESTStorageProvider{} },
	"rbac.authorization.k8s.io": func(o cluster.GroupOptions) provider {
		return rbacrest.RESTStorageProvider{Authorizer: o.Authorizer}
	},
	"resource.k8s.io": func(o cluster.GroupOptions) provider {
		return resourcerest.RESTStorageProvider{NamespaceClient: namespaceClient{getter: o.Namespaces}, Authorizer: o.Authorizer}
	},
	"scheduling.k8s.io":       func(cluster.GroupOptions) provider { return schedulingrest.RESTStorageProvider{} },
	"storage.k8s.io":          func(cluster.GroupOptions) provider { return storagerest.RESTStorageProvider{} },
	"storagemigration.k8s.io": func(cluster.GroupOptions) provider { return svmrest.RESTStorageProvider{} },
}

func newAdmissionRegistration(o cluster.GroupOptions) provider {
	return admissionregistrationrest.StorageProvider{Authorizer: o.Authorizer, Discovery: noDiscovery{}}
}
