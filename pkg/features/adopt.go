// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features adds the feature gates of all modules to the process-wide feature gate. Most of
// kube-apiserver reads the process-wide gate, so Adopt copies a server's own gate to it: servers
// with different gates can then use one process, one after the other.
package features

import (
	_ "celador.io/apiextensions-apiserver/pkg/features"
	_ "celador.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Adopt copies the values and versions of a server's own gate to the process-wide gate, which most
// of kube-apiserver reads. restore resets the process-wide gate to its previous values. The caller
// must not run servers with different gates at the same time.
func Adopt(own featuregate.FeatureGate) (restore func() error, err error) {
	global := utilfeature.DefaultMutableFeatureGate
	version, minVersion := global.EmulationVersion(), global.MinCompatibilityVersion()
	versioned, ok := own.(featuregate.MutableVersionedFeatureGate)
	if ok && (!versioned.EmulationVersion().EqualTo(version) || !versioned.MinCompatibilityVersion().EqualTo(minVersion)) {
		if err := global.SetEmulationVersionAndMinCompatibilityVersion(versioned.EmulationVersion(), versioned.MinCompatibilityVersion()); err != nil {
			return nil, err
		}
	}

	changed, before := map[string]bool{}, map[string]bool{}
	var unset []featuregate.Feature
	for feature := range global.GetAll() {
		if own.Enabled(feature) == global.Enabled(feature) {
			continue
		}
		changed[string(feature)], before[string(feature)] = own.Enabled(feature), global.Enabled(feature)
		if !global.ExplicitlySet(feature) {
			unset = append(unset, feature)
		}
	}
	restore = func() error {
		if err := global.SetFromMap(before); err != nil {
			return err
		}
		for _, feature := range unset {
			if err := global.ResetFeatureValueToDefault(feature); err != nil {
				return err
			}
		}
		return global.SetEmulationVersionAndMinCompatibilityVersion(version, minVersion)
	}
	return restore, global.SetFromMap(changed)
}
