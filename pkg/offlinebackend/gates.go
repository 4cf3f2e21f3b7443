// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"

	"celador.io/celador/pkg/features"
)

// gates is locked while a caller of EnableFeatures has set the process-wide feature gates.
var gates sync.Mutex

// Features implements cluster.Backend.
func (backend) Features() policyspec.Features {
	return policyspec.FeaturesOf(utilfeature.DefaultFeatureGate)
}

// EnableFeatures implements cluster.Backend. It sets the process-wide gates, since most of
// kube-apiserver reads these.
func (backend) EnableFeatures(values map[string]bool) (restore func(), err error) {
	gates.Lock()
	own := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := own.SetFromMap(values); err != nil {
		gates.Unlock()
		return nil, err
	}
	reset, err := features.Adopt(own)
	if err != nil {
		gates.Unlock()
		return nil, err
	}
	return func() {
		defer gates.Unlock()
		utilruntime.Must(reset())
	}, nil
}
