// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"

	"celador.io/admission/expression"
	"celador.io/admission/validating"

	"celador.io/celador/plugin/pkg/admission/manifest"
)

// pollInterval is how late a changed file is noticed that the file system says nothing of.
const pollInterval = time.Minute

// staticPolicies are those from the files on the server's disk. The zero value has none.
type staticPolicies struct {
	// dir is empty when the configuration names none.
	dir      string
	serverID string
	// source is nil until start, and without a directory.
	source *manifest.Source[validating.Snapshot]
}

// start loads the policies, if there is a directory for them, and then follows changes
// until stop is closed.
func (s *staticPolicies) start(features validating.Features, stop <-chan struct{}) (err error) {
	if s.dir == "" {
		return nil
	}
	options := manifest.Options{Dir: s.dir, Plugin: metrics.VAPManifestType, ServerID: s.serverID}
	loader := newStaticLoader(features)
	s.source, err = manifest.NewSource(options, func(documents []upstream.FileDoc) (*validating.Snapshot, error) {
		objects, err := loader.Load(documents)
		if err == nil {
			err = checkSingletons(objects)
		}
		if err != nil {
			return nil, err
		}
		return validating.NewSnapshot(expression.Default(), features, objects.Policies, objects.Bindings), nil
	})
	if err != nil {
		return fmt.Errorf("failed to load static policy manifests from %q: %w", s.dir, err)
	}
	go s.source.Follow(wait.ContextForChannel(stop), pollInterval)
	return nil
}

var noPolicies = validating.NewSnapshot(nil, validating.Features{}, nil, nil)

// snapshot returns the policies that the files hold now.
func (s *staticPolicies) snapshot() *validating.Snapshot {
	if s.source == nil {
		return noPolicies
	}
	return s.source.Current()
}
