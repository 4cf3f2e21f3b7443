// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/capabilities"
)

// TestSettings compares the settings with the defaults of kube-apiserver's flags.
func TestSettings(t *testing.T) {
	o := options.NewServerRunOptions()
	if want := o.EventTTL; eventTTL != want {
		t.Errorf("eventTTL is %v, kube-apiserver has %v", eventTTL, want)
	}
	if want := o.ServiceNodePortRange; nodePorts != want {
		t.Errorf("nodePorts are %v, kube-apiserver has %v", nodePorts, want)
	}
	if want := o.GenericServerRunOptions.JSONPatchMaxCopyBytes; maxJSONPatchCopyBytes != want {
		t.Errorf("maxJSONPatchCopyBytes is %d, kube-apiserver has %d", maxJSONPatchCopyBytes, want)
	}
	accounts := o.Authentication.ServiceAccounts
	if extendExpiration != accounts.ExtendExpiration || maxExtendedExpiration != accounts.MaxExtendedExpiration {
		t.Errorf("extendExpiration is %v, %v, kube-apiserver has %v, %v", extendExpiration, maxExtendedExpiration, accounts.ExtendExpiration, accounts.MaxExtendedExpiration)
	}
}

// TestVersions compares the versions of the process-wide gates, which registries read, with those
// of a server.
func TestVersions(t *testing.T) {
	server := compatibility.DefaultBuildEffectiveVersion()
	gates := utilfeature.DefaultMutableFeatureGate
	if diff := cmp.Diff([]string{server.EmulationVersion().String(), server.MinCompatibilityVersion().String()},
		[]string{gates.EmulationVersion().String(), gates.MinCompatibilityVersion().String()}); diff != "" {
		t.Errorf("emulated and compatible versions (-server +gates):\n%s", diff)
	}
}

func TestPrivilegedContainers(t *testing.T) {
	applySettings()
	if !capabilities.Get().AllowPrivileged {
		t.Error("privileged containers are not allowed")
	}
}
