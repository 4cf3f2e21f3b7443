// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"

	kubeoptions "celador.io/celador/pkg/kubeapiserver/options"
)

// recorder records the plugins that were initialized.
type recorder struct{ seen []admission.Interface }

func (r *recorder) Initialize(plugin admission.Interface) { r.seen = append(r.seen, plugin) }

// demanding is a plugin that is invalid before its initialization.
type demanding struct{ *admission.Handler }

func (demanding) ValidateInitialization() error { return errors.New("not initialized") }

func register(plugins *admission.Plugins, name string, plugin admission.Interface, err error) {
	plugins.Register(name, func(io.Reader) (admission.Interface, error) { return plugin, err })
}

func TestOptionsStayValid(t *testing.T) {
	generic := options.NewServerRunOptions().Admission.GenericAdmission
	upstream := generic.Plugins.Registered()
	generic.Plugins = kubeoptions.NewPlugins(generic.Plugins, &recorder{})

	if got := generic.Plugins.Registered(); !slices.Equal(got, upstream) {
		t.Errorf("plugins:\n got %v\nwant %v", got, upstream)
	}
	generic.DisablePlugins = []string{"MutatingAdmissionPolicy"}
	generic.EnablePlugins = []string{"ValidatingAdmissionPolicy"}
	if errs := generic.Validate(); len(errs) > 0 {
		t.Errorf("upstream's plugin order and flags became invalid: %v", errs)
	}
}

func TestOwnPluginIsInitialized(t *testing.T) {
	own, server := &recorder{}, &recorder{}
	plugins := kubeoptions.NewPlugins(admission.NewPlugins(), own)
	plugin, err := plugins.InitPlugin("ValidatingAdmissionPolicy", nil, server)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plugin.(*validatingadmissionpolicy.Plugin); !ok {
		t.Errorf("got %T", plugin)
	}
	if want := []admission.Interface{plugin}; !slices.Equal(own.seen, want) || !slices.Equal(server.seen, want) {
		t.Errorf("own initializer got %v, the server's %v, want %v", own.seen, server.seen, want)
	}
}

func TestHostPlugins(t *testing.T) {
	theirs := demanding{admission.NewHandler()}
	host, own, server := admission.NewPlugins(), &recorder{}, &recorder{}
	register(host, "Theirs", theirs, nil)
	register(host, "Disabled", nil, nil)
	register(host, "Broken", nil, errors.New("no such file"))
	register(host, "ValidatingAdmissionPolicy", theirs, nil)
	plugins := kubeoptions.NewPlugins(host, own)

	if _, err := plugins.InitPlugin("Theirs", nil, server); err == nil || !strings.Contains(err.Error(), "not initialized") {
		t.Errorf("got error %v, want that of the incomplete initialization", err)
	}
	if !slices.Equal(server.seen, []admission.Interface{theirs}) {
		t.Errorf("server initialized %v, want %v", server.seen, theirs)
	}
	if plugin, err := plugins.InitPlugin("Disabled", nil, server); plugin != nil || err != nil {
		t.Errorf("got %v, %v, want neither plugin nor error", plugin, err)
	}
	_, err := plugins.InitPlugin("Broken", nil, server)
	if want := `couldn't init admission plugin "Broken": no such file`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if len(own.seen) != 0 {
		t.Errorf("our initializer got %v, want no plugin that is not ours", own.seen)
	}

	plugin, err := plugins.InitPlugin("ValidatingAdmissionPolicy", nil, server)
	if _, ok := plugin.(*validatingadmissionpolicy.Plugin); !ok || err != nil {
		t.Errorf("got %T, %v, want our plugin in place of the host's", plugin, err)
	}
}

func TestConfigurationFiles(t *testing.T) {
	head := func(kind string) string {
		return "apiVersion: apiserver.config.k8s.io/v1\nkind: " + kind + "Configuration\n"
	}
	for name, test := range map[string]struct{ plugin, config, err string }{
		"mutating, empty":       {"MutatingAdmissionPolicy", head("MutatingAdmissionPolicy"), ""},
		"mutating, manifests":   {"MutatingAdmissionPolicy", head("MutatingAdmissionPolicy") + "staticManifestsDir: " + t.TempDir(), ""},
		"mutating, garbage":     {"MutatingAdmissionPolicy", "{", `couldn't init admission plugin "MutatingAdmissionPolicy"`},
		"validating, empty":     {"ValidatingAdmissionPolicy", head("ValidatingAdmissionPolicy"), ""},
		"validating, wrong one": {"ValidatingAdmissionPolicy", head("MutatingAdmissionPolicy"), "unexpected type"},
	} {
		t.Run(name, func(t *testing.T) {
			plugins := kubeoptions.NewPlugins(admission.NewPlugins(), &recorder{})
			_, err := plugins.InitPlugin(test.plugin, strings.NewReader(test.config), &recorder{})
			switch {
			case test.err == "" && err != nil:
				t.Errorf("got error %v", err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}
