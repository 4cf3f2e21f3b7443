// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"

	"celador.io/celador/plugin/pkg/admission/manifest"
)

// pollInterval is how late a changed file is noticed that the file system says nothing of.
const pollInterval = time.Minute

// Files are the policies from the files on the server's disk, as a snapshot S.
type Files[S any] struct {
	// Dir is empty when the configuration names none.
	Dir string
	// source is nil until Load, and without a directory.
	source *manifest.Source[S]
}

// Load reads the policies, if there is a directory for them, and then follows changes until
// the plugin stops.
func (f *Files[S]) Load(p *Plugin, kind metrics.ManifestType, read func([]upstream.FileDoc) (*S, error)) (err error) {
	if f.Dir == "" {
		return nil
	}
	f.source, err = manifest.NewSource(manifest.Options{Dir: f.Dir, Plugin: kind, ServerID: p.serverID}, read)
	if err != nil {
		return fmt.Errorf("failed to load static policy manifests from %q: %w", f.Dir, err)
	}
	go f.source.Follow(wait.ContextForChannel(p.stop), pollInterval)
	return nil
}

// InEffect returns the n snapshots that a request is subject to: that of the files, then
// that of the policies which clients write. They are in one array, which takes no memory of
// its own. It fails while the latter are not known yet.
func (f *Files[S]) InEffect(p *Plugin, a admission.Attributes, stored interface{ Snapshot() *S }) (snapshots [2]*S, n int, err error) {
	fromFiles, fromClients, err := p.subject(a)
	if current := f.current(); fromFiles && current != nil {
		snapshots[n], n = current, n+1
	}
	if fromClients {
		snapshots[n], n = stored.Snapshot(), n+1
	}
	return snapshots, n, err
}

// current returns what the files hold now, nil without a directory.
func (f *Files[S]) current() *S {
	if f.source == nil {
		return nil
	}
	return f.source.Current()
}
