// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// The server does not start with manifests that it cannot put into effect.
func TestServerDoesNotStart(t *testing.T) {
	const gateOff = "--feature-gates=ManifestBasedAdmissionControlConfig=false"
	const needsGate = `couldn't init admission plugin "PLUGIN": staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled`
	for name, test := range map[string]struct {
		plugin, manifest string
		args             []string
		want             string // DIR is the directory, PLUGIN is the plugin
	}{
		"gate off":           {"ValidatingAdmissionPolicy", forbid("first"), []string{gateOff}, needsGate},
		"gate off, webhooks": {"ValidatingAdmissionWebhook", "", []string{gateOff}, needsGate},
		"wrong file": {"ValidatingAdmissionPolicy", strings.Replace(forbid("first"), "forbid-first.static.k8s.io", "first", 1), nil,
			`failed to initialize admission plugin "PLUGIN": failed to load static policy manifests from "DIR": error loading DIR/m.yaml: "first" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"wrong file, webhooks": {"MutatingAdmissionWebhook", forbid("first"), nil,
			`failed to initialize admission plugin "PLUGIN": failed to load static webhook manifests from "DIR": error loading DIR/m.yaml: unsupported resource type *v1.ValidatingAdmissionPolicy`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "m.yaml", test.manifest)
			got := testserver.StartError(t, append(test.args, configure(t, map[string]string{test.plugin: dir}))...)
			want := strings.NewReplacer("DIR", dir, "PLUGIN", test.plugin).Replace(test.want)
			if !strings.Contains(got, want) {
				t.Errorf("got error %q, want %q", got, want)
			}
		})
	}
}
