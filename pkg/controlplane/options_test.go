// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
)

// recorder records the plugins that were initialized.
type recorder struct{ seen []admission.Interface }

func (r *recorder) Initialize(plugin admission.Interface) { r.seen = append(r.seen, plugin) }

func TestNewOptions(t *testing.T) {
	theirs, ours := options.NewServerRunOptions().Admission.GenericAdmission, NewOptions().Admission.GenericAdmission
	if !slices.Equal(ours.RecommendedPluginOrder, theirs.RecommendedPluginOrder) {
		t.Errorf("plugin order:\n got %v\nwant %v", ours.RecommendedPluginOrder, theirs.RecommendedPluginOrder)
	}
	if !ours.DefaultOffPlugins.Equal(theirs.DefaultOffPlugins) {
		t.Errorf("plugins off by default:\n got %v\nwant %v", ours.DefaultOffPlugins, theirs.DefaultOffPlugins)
	}
	if got, want := ours.Plugins.Registered(), theirs.Plugins.Registered(); !slices.Equal(got, want) {
		t.Errorf("plugins:\n got %v\nwant %v", got, want)
	}
}

func TestOptionsOfUpstreamGetOwnPluginsForAWhile(t *testing.T) {
	opts := completed(t, options.NewServerRunOptions())
	generic, initialize := opts.Admission.GenericAdmission, &recorder{}
	theirs := generic.Plugins

	restore := useOwnPlugins(opts, initialize)
	plugin, err := generic.Plugins.InitPlugin(validatingadmissionpolicy.PluginName, nil, admission.PluginInitializers{})
	if _, ok := plugin.(*validatingadmissionpolicy.Plugin); !ok || err != nil {
		t.Errorf("got %T, %v, want our plugin", plugin, err)
	}
	if !slices.Equal(initialize.seen, []admission.Interface{plugin}) {
		t.Errorf("initialized %v, want %v", initialize.seen, plugin)
	}
	restore()
	if generic.Plugins != theirs {
		t.Error("the options did not get their plugins back")
	}
}

func TestOptionsWithoutAdmission(t *testing.T) {
	s := options.NewServerRunOptions()
	s.Admission = nil
	opts := completed(t, s)
	useOwnPlugins(opts, &recorder{})()
	if opts.Admission != nil {
		t.Errorf("got admission %v, want none", opts.Admission)
	}
}

func TestMaxPolicyStaleness(t *testing.T) {
	const needsCache = "--max-policy-staleness needs --watch-cache, whose progress it measures"
	for args, want := range map[string]struct {
		staleness time.Duration
		err       string
	}{
		"":                            {0, ""},
		"--watch-cache=false":         {0, ""},
		"--max-policy-staleness":      {5 * time.Second, ""},
		"--max-policy-staleness=1m":   {time.Minute, ""},
		"--max-policy-staleness=10ms": {10 * time.Millisecond, "--max-policy-staleness must be 0 or at least 1s, not 10ms"},
		"--max-policy-staleness=-1s":  {-time.Second, "--max-policy-staleness must be 0 or at least 1s, not -1s"},
		"--max-policy-staleness --watch-cache=false": {5 * time.Second, needsCache},
		"--max-policy-staleness --watch-cache-sizes=configmaps#0,validatingadmissionpolicybindings.admissionregistration.k8s.io#100": {5 * time.Second, ""},
		"--max-policy-staleness --watch-cache-sizes=validatingadmissionpolicybindings.admissionregistration.k8s.io#0": {
			5 * time.Second, "--max-policy-staleness needs the watch cache that --watch-cache-sizes=validatingadmissionpolicybindings.admissionregistration.k8s.io#0 disables",
		},
	} {
		t.Run(args, func(t *testing.T) {
			opts := NewOptions()
			opts.SecureServing.ServerCert.CertDirectory = t.TempDir()
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			for _, section := range opts.Flags().FlagSets {
				flags.AddFlagSet(section)
			}
			if err := flags.Parse(strings.Fields(args)); err != nil {
				t.Fatal(err)
			}
			completed, err := opts.Complete(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if completed.MaxPolicyStaleness != want.staleness {
				t.Errorf("got %v, want %v", completed.MaxPolicyStaleness, want.staleness)
			}
			got := ""
			for _, err := range completed.Validate() {
				if strings.Contains(err.Error(), stalenessFlag) {
					got += err.Error()
				}
			}
			if got != want.err {
				t.Errorf("got error %q, want %q", got, want.err)
			}
		})
	}
}

func completed(t *testing.T, s *options.ServerRunOptions) options.CompletedOptions {
	t.Helper()
	s.SecureServing.ServerCert.CertDirectory = t.TempDir()
	opts, err := s.Complete(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return opts
}
