// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	models "k8s.io/kube-openapi/pkg/validation/spec"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	"celador.io/celador/test/equivalence/harness"
)

// builtInKinds are the kinds for which objects and apply configurations are generated from
// their schemas.
var builtInKinds = []struct {
	version schema.GroupVersion
	names   []string
}{
	{corev1.SchemeGroupVersion, []string{"Pod", "Service", "Node", "ConfigMap", "Secret", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "ServiceAccount", "ReplicationController", "ResourceQuota", "LimitRange", "Endpoints", "PodTemplate", "Event"}},
	{appsv1.SchemeGroupVersion, []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision"}},
	{autoscalingv2.SchemeGroupVersion, []string{"HorizontalPodAutoscaler"}},
	{batchv1.SchemeGroupVersion, []string{"Job", "CronJob"}},
	{networkingv1.SchemeGroupVersion, []string{"Ingress", "NetworkPolicy", "IngressClass"}},
	{policyv1.SchemeGroupVersion, []string{"PodDisruptionBudget"}},
	{rbacv1.SchemeGroupVersion, []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}},
	{storagev1.SchemeGroupVersion, []string{"StorageClass", "VolumeAttachment", "CSIDriver", "CSINode"}},
	{schedulingv1.SchemeGroupVersion, []string{"PriorityClass"}},
	{coordinationv1.SchemeGroupVersion, []string{"Lease"}},
	{discoveryv1.SchemeGroupVersion, []string{"EndpointSlice"}},
	{certificatesv1.SchemeGroupVersion, []string{"CertificateSigningRequest"}},
	{nodev1.SchemeGroupVersion, []string{"RuntimeClass"}},
	{flowcontrolv1.SchemeGroupVersion, []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{resourcev1.SchemeGroupVersion, []string{"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"}},
}

// clusterScoped lists the cluster-scoped kinds among them.
var clusterScoped = map[string]bool{
	"Node": true, "Namespace": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true, "StorageClass": true, "VolumeAttachment": true, "CSIDriver": true, "CSINode": true, "PriorityClass": true,
	"CertificateSigningRequest": true, "RuntimeClass": true, "FlowSchema": true, "PriorityLevelConfiguration": true, "IngressClass": true, "ResourceSlice": true, "DeviceClass": true,
}

// builtInModels maps model names to the schemas of built-in kinds.
var builtInModels = sync.OnceValue(func() map[string]*models.Schema {
	var names []string
	for _, kinds := range builtInKinds {
		for _, name := range kinds.names {
			names = append(names, modelOf(kinds.version.WithKind(name)))
		}
	}
	return builtIn(names)
})

// kind returns a built-in kind.
func (g *generator) kind() schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, kinds := range builtInKinds {
		for _, name := range kinds.names {
			all = append(all, kinds.version.WithKind(name))
		}
	}
	return harness.Pick(g, all...)
}

// resourceOf returns the resource that serves a kind.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural
}

// resolved follows references from a schema, which has the name of the model that they end at.
func resolved(model *models.Schema) (_ *models.Schema, name string) {
	for {
		ref := model.Ref.String()
		if ref == "" && len(model.AllOf) == 1 {
			ref = model.AllOf[0].Ref.String()
		}
		if ref == "" {
			return model, name
		}
		name = ref[strings.LastIndex(ref, "/")+1:]
		model = builtInModels()[name]
	}
}
