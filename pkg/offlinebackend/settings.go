// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"sync"
	"sync/atomic"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/sets"
	genericfeatures "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/kubeapiserver/admission/exclusion"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"celador.io/offline/cluster"
)

// These are settings of a server that registries, validation and admission read. celador serve has
// the same. They are kube-apiserver's defaults, except for allowPrivileged and issuer.
const (
	// allowPrivileged lets containers be privileged, as kubeadm does.
	allowPrivileged = true
	// eventTTL is the flag --event-ttl.
	eventTTL = time.Hour
	// maxJSONPatchCopyBytes limits what the copy operations of one JSON patch add.
	maxJSONPatchCopyBytes = 3 << 20
	// issuer is the flag --service-account-issuer. It is also the audience of tokens that are
	// requested without one.
	issuer = "https://kubernetes.default.svc.cluster.local"
	// extendExpiration is the flag --service-account-extend-token-expiration.
	extendExpiration = true
	// maxExtendedExpiration is the time to which the server extends tokens of Pods.
	maxExtendedExpiration = serviceaccount.ExpirationExtensionSeconds * time.Second
)

// nodePorts is the flag --service-node-port-range.
var nodePorts = utilnet.PortRange{Base: 30000, Size: 2768}

// applySettings sets two variables of the process as kube-apiserver does when it starts: the
// capabilities of containers, and the size limit of JSON patches. If a server in the same process
// has set them, its values remain.
var applySettings = sync.OnceFunc(func() {
	capabilities.Setup(allowPrivileged, 0)
	atomic.CompareAndSwapInt64(&jsonpatch.AccumulatedCopySizeLimit, 0, maxJSONPatchCopyBytes)
})

// Exclusions implements cluster.Backend.
func (backend) Exclusions() cluster.Exclusions {
	policies := sets.New(exclusion.Excluded()...)
	if !utilfeature.DefaultFeatureGate.Enabled(genericfeatures.ExcludeAdmissionWebhookVirtualResources) {
		return cluster.Exclusions{Policies: policies}
	}
	return cluster.Exclusions{Policies: policies, Webhooks: policies}
}
