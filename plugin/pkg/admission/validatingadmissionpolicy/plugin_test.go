// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "celador.io/api/admissionregistration/v1"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	"celador.io/apiserver/pkg/features"
)

const (
	notReady = `deployments.apps "web" is forbidden: not yet ready to handle request`
	denied   = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: failed expression: object.spec.replicas <= 5`
)

func TestRegister(t *testing.T) {
	plugins := admission.NewPlugins()
	validatingadmissionpolicy.Register(plugins)
	if got := plugins.Registered(); !slices.Equal(got, []string{"ValidatingAdmissionPolicy"}) {
		t.Errorf("registered %q", got)
	}
	plugin, err := plugins.InitPlugin(validatingadmissionpolicy.PluginName, nil, admission.PluginInitializers{})
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect} {
		if !plugin.Handles(operation) {
			t.Errorf("does not handle %s", operation)
		}
	}
	if _, validates := plugin.(admission.ValidationInterface); !validates {
		t.Error("the plugin does not validate")
	}
	if _, mutates := plugin.(admission.MutationInterface); mutates {
		t.Error("the plugin mutates")
	}
}

func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: ValidatingAdmissionPolicyConfiguration\n"
	for name, test := range map[string]struct {
		file    io.Reader
		wantErr string
	}{
		"none":        {nil, ""},
		"empty":       {strings.NewReader(header), ""},
		"from files":  {strings.NewReader(header + "staticManifestsDir: " + dir + "\n"), ""},
		"no such dir": {strings.NewReader(header + "staticManifestsDir: /nowhere/at/all\n"), `staticManifestsDir: Invalid value: "/nowhere/at/all": unable to read: stat /nowhere/at/all: no such file or directory`},
		"of another":  {strings.NewReader(strings.Replace(header, "Validating", "Mutating", 1)), "unexpected type: *policyconfig.MutatingAdmissionPolicyConfiguration"},
		"unreadable":  {io.MultiReader(errorReader{}), "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			plugin, err := validatingadmissionpolicy.New(test.file)
			if got := text(err); got != test.wantErr {
				t.Errorf("error is %q, want %q", got, test.wantErr)
			}
			if (plugin == nil) != (test.wantErr != "") {
				t.Errorf("plugin is %v", plugin)
			}
		})
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMissingDependencies(t *testing.T) {
	s := newServer(t)
	setters := map[string]func(*validatingadmissionpolicy.Plugin){
		"missing policy informer factory": func(p *validatingadmissionpolicy.Plugin) {
			p.SetConfig(policyinit.Config{Client: s.policies, Informers: s.policyInformers})
		},
		"missing informer factory":  func(p *validatingadmissionpolicy.Plugin) { p.SetExternalKubeInformerFactory(s.kubeInformers) },
		"missing kubernetes client": func(p *validatingadmissionpolicy.Plugin) { p.SetExternalKubeClientSet(s.kube) },
		"missing dynamic client": func(p *validatingadmissionpolicy.Plugin) {
			p.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()))
		},
		"missing authorizer":   func(p *validatingadmissionpolicy.Plugin) { p.SetUnconditionalAuthorizer(s.authorizer) },
		"missing stop channel": func(p *validatingadmissionpolicy.Plugin) { p.SetDrainedNotification(s.stop) },
	}
	for missing := range setters {
		plugin := newPlugin(t)
		plugin.InspectFeatureGates(s.gates)
		for name, set := range setters {
			if name != missing {
				set(plugin)
			}
		}
		if got := text(plugin.ValidateInitialization()); got != missing {
			t.Errorf("error is %q, want %q", got, missing)
		}
		setters[missing](plugin)
		if err := plugin.ValidateInitialization(); err != nil {
			t.Errorf("with everything set: %v", err)
		}
	}
}

func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, atMost("few", "5"), policytest.Binding("few", "few", v1.Deny))
		plugin := newPlugin(t)
		s.initialize(t, plugin)

		refuse := func(what string) {
			t.Helper()
			if got := text(send(t, plugin, create(3), interfaces()).Err); got != notReady {
				t.Errorf("%s: error is %q, want %q", what, got, notReady)
			}
		}
		refuse("nothing is started")
		s.kubeInformers.Start(s.stop)
		synctest.Wait()
		refuse("namespaces are known, policies are not")

		// A waiting request continues as soon as the informers are synced. The bubble's clock
		// advances only while all goroutines are blocked.
		begin := time.Now()
		answers := make(chan error)
		for _, replicas := range []int32{3, 9} {
			go func() { answers <- plugin.Validate(t.Context(), create(replicas), interfaces()) }()
		}
		synctest.Wait()
		s.policyInformers.Start(s.stop)
		got := []string{text(<-answers), text(<-answers)}
		slices.Sort(got)
		if want := []string{"", denied}; !slices.Equal(got, want) {
			t.Errorf("errors are %q, want %q", got, want)
		}
		if waited := time.Since(begin); waited > time.Second {
			t.Errorf("waited for %v", waited)
		}
	})
}

// Requests are rejected until the informers of policies, bindings and namespaces are synced.
func TestNotReadyWithout(t *testing.T) {
	for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "namespaces"} {
		t.Run(resource, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, atMost("few", "5"), policytest.Binding("few", "few", v1.Deny))
				plugin := newPlugin(t)
				s.initialize(t, plugin)
				var listed atomic.Bool
				fail := func(clienttesting.Action) (bool, runtime.Object, error) {
					return !listed.Load(), nil, errors.New("not yet")
				}
				s.policies.PrependReactor("list", resource, fail)
				s.kube.PrependReactor("list", resource, fail)
				s.start()
				time.Sleep(time.Minute) // of the bubble
				if got := text(send(t, plugin, create(3), interfaces()).Err); got != notReady {
					t.Errorf("error is %q, want %q", got, notReady)
				}
				listed.Store(true)
				time.Sleep(2 * time.Minute) // of the bubble: lists are repeated at intervals
				synctest.Wait()
				if got := text(send(t, plugin, create(9), interfaces()).Err); got != denied {
					t.Errorf("error is %q, want %q", got, denied)
				}
			})
		})
	}
}

func TestGateOff(t *testing.T) {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := gates.SetFromMap(map[string]bool{string(features.ValidatingAdmissionPolicy): false}); err != nil {
		t.Fatal(err)
	}
	for name, initialize := range map[string]bool{"off": true, "never inspected": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, atMost("few", "5"), policytest.Binding("few", "few", v1.Deny))
				s.gates = gates
				plugin := newPlugin(t)
				if initialize {
					s.initialize(t, plugin)
				} else if err := plugin.ValidateInitialization(); err != nil {
					t.Errorf("nothing is needed, but got %v", err)
				}
				begin := time.Now()
				if got := send(t, plugin, create(9), interfaces()); got.Err != nil || got.Warnings != nil || got.Annotations != nil {
					t.Errorf("got %+v", got)
				}
				if waited := time.Since(begin); waited != 0 {
					t.Errorf("the request waited for %v", waited)
				}
				s.start()
				plugin.CompileAll(t.Context()) // has no policies
				if got := s.policies.Actions(); len(got) != 0 {
					t.Errorf("the server is asked for policies: %v", got)
				}
			})
		})
	}
}

func TestExemptResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, policytest.Validating("never", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")}), policytest.Binding("never", "never", v1.Deny))
		plugin := newPlugin(t)
		plugin.SetExcludedAdmissionResources([]schema.GroupResource{{Group: "authentication.k8s.io", Resource: "tokenreviews"}})
		plugin.SetExcludedAdmissionResources([]schema.GroupResource{{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}})
		s.initialize(t, plugin)
		ask := func(resource schema.GroupVersionResource, subresource string) error {
			kind := resource.GroupVersion().WithKind("Any")
			object := newWidget(3)
			object.SetGroupVersionKind(kind)
			return plugin.Validate(t.Context(), admission.NewAttributesRecord(object, nil, kind, "", "n", resource, subresource, admission.Create, &metav1.CreateOptions{}, false, jane), interfaces())
		}
		resource := func(group, version, resource string) schema.GroupVersionResource {
			return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
		}
		exempt := func(when string) {
			t.Helper()
			for _, r := range []schema.GroupVersionResource{
				resource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"),
				resource("admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicybindings"),
				resource("admissionregistration.k8s.io", "v1alpha1", "mutatingadmissionpolicies"),
				resource("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings"),
				resource("authentication.k8s.io", "v1", "tokenreviews"),
				resource("authorization.k8s.io", "v1", "subjectaccessreviews"),
			} {
				for _, subresource := range []string{"", "status"} {
					if err := ask(r, subresource); err != nil {
						t.Errorf("%s, %v %s: %v", when, r, subresource, err)
					}
				}
			}
		}
		exempt("not ready")
		s.start()
		exempt("ready")
		for _, r := range []schema.GroupVersionResource{
			resource("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"),
			resource("example.com", "v1", "validatingadmissionpolicies"),
			resource("", "v1", "tokenreviews"),
			resource("authorization.k8s.io", "v1", "localsubjectaccessreviews"),
		} {
			if ask(r, "") == nil {
				t.Errorf("%v is exempt", r)
			}
		}
	})
}

// A namespace that is not in the informer's cache is read from the server.
func TestLateNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := policytest.Validating("late", v1.ValidatingAdmissionPolicySpec{
			Validations: []v1.Validation{{Expression: "false", MessageExpression: "'in ' + namespaceObject.metadata.name"}},
		})
		policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"name": "late"}}
		s := newServer(t, policy, policytest.Binding("late", "late", v1.Deny))
		// The namespace informer has an empty cache.
		s.kubeInformers = emptyInformers()
		plugin := newPlugin(t)
		s.initialize(t, plugin)
		s.start()
		for namespace, want := range map[string]string{
			"late":    `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'late' with binding 'late' denied request: in late`,
			"blue":    "",
			"nowhere": `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'late' denied request: failed to configure policy: namespaces "nowhere" not found`,
		} {
			a := admission.NewAttributesRecord(deploy(namespace, "web", 3), nil, deployment, namespace, "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
			if got := text(send(t, plugin, a, interfaces()).Err); got != want {
				t.Errorf("in %s: error is %q, want %q", namespace, got, want)
			}
		}
	})
}
