// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// groupPriority holds the priorities of a group and its versions in discovery. Higher priorities
// come first.
type groupPriority struct {
	group    string
	priority int32
	versions map[string]int32
}

// kubeGroups are the groups that kube-apiserver serves in addition to those of a generic control
// plane, with upstream's priorities.
var kubeGroups = []groupPriority{
	{"", 18000, map[string]int32{"v1": 1}},
	{"apps", 17800, map[string]int32{"v1": 15}},
	{"autoscaling", 17500, map[string]int32{"v2": 30, "v1": 15, "v2beta1": 9, "v2beta2": 1}},
	{"batch", 17400, map[string]int32{"v1": 15, "v1beta1": 9, "v2alpha1": 9}},
	{"networking.k8s.io", 17200, map[string]int32{"v1": 15, "v1beta1": 9}},
	{"policy", 17100, map[string]int32{"v1": 15, "v1beta1": 9}},
	{"storage.k8s.io", 16800, map[string]int32{"v1": 15, "v1beta1": 9, "v1alpha1": 1}},
	{"scheduling.k8s.io", 16600, map[string]int32{"v1": 15, "v1beta1": 9, "v1alpha3": 3}},
	{"node.k8s.io", 16300, map[string]int32{"v1": 15, "v1beta1": 9, "v1alpha1": 1}},
	{"resource.k8s.io", 16200, map[string]int32{"v1": 21, "v1beta2": 15, "v1beta1": 9, "v1alpha3": 1}},
	{"lifecycle.k8s.io", 15700, map[string]int32{"v1alpha1": 1}},
}

// apiServicePriorities returns the priority of every group version that this server can serve
// itself. A group version without a priority gets no APIService, and clients cannot reach it
// through the aggregator.
func apiServicePriorities() map[schema.GroupVersion]controlplaneapiserver.APIServicePriority {
	all := controlplaneapiserver.DefaultGenericAPIServicePriorities()
	for _, g := range kubeGroups {
		for version, priority := range g.versions {
			all[schema.GroupVersion{Group: g.group, Version: version}] = controlplaneapiserver.APIServicePriority{Group: g.priority, Version: priority}
		}
	}
	return all
}
