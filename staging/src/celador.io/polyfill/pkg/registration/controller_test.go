// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/admissionregistration/v1"
	policyfake "celador.io/client-go/clientset/fake"
	policyinformers "celador.io/client-go/informers"

	"celador.io/polyfill/pkg/registration"
	"celador.io/polyfill/pkg/routing"
)

// bundle is a registration.CABundle.
type bundle struct {
	lock      sync.Mutex
	content   []byte
	listeners []dynamiccertificates.Listener
}

func (b *bundle) CABundle() []byte {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.content
}

func (b *bundle) AddListener(l dynamiccertificates.Listener) { b.listeners = append(b.listeners, l) }

func (b *bundle) set(content string) {
	b.lock.Lock()
	b.content = []byte(content)
	b.lock.Unlock()
	for _, l := range b.listeners {
		l.Enqueue()
	}
}

// cluster is an API server and a controller.
type cluster struct {
	*testing.T
	controller *registration.Controller
	client     *fake.Clientset
	policies   *policyfake.Clientset
	bundle     *bundle
	// run and stop start and end the controller's Run.
	run, stop func()
}

const settled = time.Minute // of the time of the bubble

var owner = rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "polyfill:ns", UID: "role-1"}}

// start returns a cluster with the given CA bundle and objects, in a bubble of synctest. The
// controller runs.
func start(t *testing.T, ca string, objects ...runtime.Object) *cluster {
	c := &cluster{T: t, client: fake.NewSimpleClientset(objects...), policies: policyfake.NewSimpleClientset(), bundle: &bundle{content: []byte(ca)}}
	ctx, cancel := context.WithCancel(t.Context())
	policies, configurations := policyinformers.NewSharedInformerFactory(c.policies, 0), registration.NewInformers(c.client)
	var err error
	c.controller, err = registration.New(registration.Config{
		Client: c.client, Policies: policies, Configurations: configurations, CABundle: c.bundle,
		Webhooks: routing.Options{Namespace: "ns", Service: "polyfill", Port: 443, TimeoutSeconds: 10, User: "system:serviceaccount:ns:polyfill"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.controller.Check(); err == nil {
		t.Error("ready before the configurations are known")
	}
	policies.Start(ctx.Done())
	configurations.Start(ctx.Done())
	var running sync.WaitGroup
	c.run = func() {
		ctx, stop := context.WithCancel(ctx)
		running.Go(func() { c.controller.Run(ctx) })
		c.stop = func() { stop(); running.Wait() }
	}
	c.run()
	t.Cleanup(func() {
		cancel()
		running.Wait()
		policies.Shutdown()
		configurations.Shutdown()
	})
	return c
}

// settle lets time pass until nothing is left to do, and returns the writes of configurations.
func (c *cluster) settle() []string {
	time.Sleep(settled)
	synctest.Wait()
	var writes []string
	for _, a := range c.client.Actions() {
		if !slices.Contains([]string{"get", "list", "watch"}, a.GetVerb()) {
			writes = append(writes, a.GetVerb()+" "+strings.TrimSuffix(a.GetResource().Resource, "webhookconfigurations"))
		}
	}
	c.client.ClearActions()
	slices.Sort(writes)
	return writes
}

func (c *cluster) wantWrites(when string, want ...string) {
	c.Helper()
	if got := c.settle(); !slices.Equal(got, want) {
		c.Errorf("%s: writes are %q, want %q", when, got, want)
	}
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (c *cluster) validating() *admissionregistrationv1.ValidatingWebhookConfiguration {
	c.Helper()
	return must(c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(c.Context(), registration.Name, metav1.GetOptions{}))(c.T)
}

func (c *cluster) mutating() *admissionregistrationv1.MutatingWebhookConfiguration {
	c.Helper()
	return must(c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(c.Context(), registration.Name, metav1.GetOptions{}))(c.T)
}

func (c *cluster) updateValidating(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
	c.Helper()
	must(c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(c.Context(), o, metav1.UpdateOptions{}))(c.T)
	c.client.ClearActions()
}

// paths returns the paths of all webhooks but the one for policies.
func (c *cluster) paths() []string {
	c.Helper()
	var paths []string
	for _, w := range c.validating().Webhooks {
		paths = append(paths, *w.ClientConfig.Service.Path)
	}
	for _, w := range c.mutating().Webhooks {
		paths = append(paths, *w.ClientConfig.Service.Path)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return p == routing.PoliciesPath })
}

func policy(name, version string) *v1.ValidatingAdmissionPolicy {
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicySpec{
		PolicyType: new(v1.SingletonPolicy),
		MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.Create}, Rule: v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{version}, Resources: []string{"deployments"}},
		}}}},
	}}
}

func (c *cluster) create(p *v1.ValidatingAdmissionPolicy) {
	c.Helper()
	must(c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(c.Context(), p, metav1.CreateOptions{}))(c.T)
}

func wantPaths(when string, c *cluster, policies ...*v1.ValidatingAdmissionPolicy) {
	c.Helper()
	var want []string
	for _, p := range policies {
		want = append(want, routing.ValidatingRoute(p).Path(p.Name))
	}
	if got := c.paths(); !slices.Equal(got, want) {
		c.Errorf("%s: webhooks have the paths %q, want %q", when, got, want)
	}
}

// The configurations follow the policies, and are written only if they change.
func TestPoliciesAreRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := counter(t, "celador_webhook_configuration_writes_total")
		c := start(t, "CA 1", owner.DeepCopy())
		c.wantWrites("at first", "create mutating", "create validating")
		if got := counter(t, "celador_webhook_configuration_writes_total") - before; got != 2 {
			t.Errorf("%v writes are counted", got)
		}
		wantPaths("at first", c)
		if err := c.controller.Check(); err != nil {
			t.Error(err)
		}
		for _, o := range []metav1.Object{c.validating(), c.mutating()} {
			want := []metav1.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "polyfill:ns", UID: "role-1"}}
			if got := o.GetOwnerReferences(); !slices.Equal(got, want) {
				t.Errorf("owners are %v, want %v", got, want)
			}
			if got := o.GetAnnotations()["policy.celador.io/owner"]; got != "ns/polyfill" {
				t.Errorf("the annotation names %q", got)
			}
		}

		// A changed route is registered within a second.
		a := policy("a", "v1")
		c.create(a)
		time.Sleep(time.Second)
		wantPaths("a policy is created", c, a)
		c.wantWrites("a policy is created", "update validating")
		a = policy("a", "v2")
		must(c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Update(t.Context(), a, metav1.UpdateOptions{}))(t)
		time.Sleep(time.Second)
		wantPaths("a policy moves", c, a)
		c.wantWrites("a policy moves", "update validating")

		a = a.DeepCopy()
		a.Status.ObservedGeneration = 2
		must(c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().UpdateStatus(t.Context(), a, metav1.UpdateOptions{}))(t)
		c.wantWrites("a status changes")

		m := &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
		must(c.policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(t.Context(), m, metav1.CreateOptions{}))(t)
		c.wantWrites("a policy without a binding is created")
		b := &v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "m"}}
		must(c.policies.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(t.Context(), b, metav1.CreateOptions{}))(t)
		c.wantWrites("it is bound", "update mutating")
		if got, want := c.paths(), []string{routing.ValidatingRoute(a).Path("a"), routing.MutatingRoute(m).Path("m")}; !slices.Equal(got, want) {
			t.Errorf("paths are %q, want %q", got, want)
		}

		if err := c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.wantWrites("a policy is deleted", "update validating")
	})
}

// Many changes at once cause few writes.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, "CA 1", owner.DeepCopy())
		c.settle()
		for i := range 100 {
			c.create(policy(fmt.Sprint("p", i), fmt.Sprint("v", i)))
			time.Sleep(5 * time.Millisecond)
		}
		if writes := c.settle(); len(writes) < 1 || len(writes) > 4 {
			t.Errorf("100 policies in half a second cause %d writes", len(writes))
		}
		if got := len(c.paths()); got != 100 {
			t.Errorf("%d routes", got)
		}
	})
}

// What others change is corrected.
func TestDrift(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*cluster)
		want   []string
	}{
		"deleted": {func(c *cluster) {
			if err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(c.Context(), registration.Name, metav1.DeleteOptions{}); err != nil {
				c.Fatal(err)
			}
			c.client.ClearActions()
		}, []string{"create validating"}},
		"no webhooks": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.Webhooks = nil }), []string{"update validating"}},
		"failurePolicy": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Webhooks[1].FailurePolicy = new(admissionregistrationv1.Ignore)
		}), []string{"update validating"}},
		"order":         {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { slices.Reverse(o.Webhooks) }), []string{"update validating"}},
		"no owner":      {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.OwnerReferences = nil }), []string{"update validating"}},
		"no annotation": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.Annotations = nil }), []string{"update validating"}},
		"another annotation": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Annotations["policy.celador.io/owner"] = "edited/by-hand"
		}), []string{"update validating"}},
		"another annotation, no webhooks": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Annotations["policy.celador.io/owner"], o.Webhooks = "edited/by-hand", nil
		}), []string{"update validating"}},
		"another annotation, another service in a webhook": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Annotations["policy.celador.io/owner"], o.Webhooks[0].ClientConfig.Service.Namespace = "edited/by-hand", "other"
		}), []string{"update validating"}},
		"another ClusterRole of the same name": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.OwnerReferences[0].UID = "role-0"
		}), []string{"update validating"}},
		"a second owner": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{Kind: "ClusterRole", Name: "extra", UID: "role-3"})
		}), []string{"update validating"}},
		"the ClusterRole of an earlier build": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.OwnerReferences[0].Name, o.OwnerReferences[0].UID = "polyfill", "role-0"
		}), []string{"update validating"}},
		"label": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Labels = map[string]string{"team": "a"}
		}), nil},
		"other annotation": {edit(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.Annotations["team"] = "a" }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, "CA 1", owner.DeepCopy())
				p := policy("p", "v1")
				c.create(p)
				c.settle()
				test.change(c)
				synctest.Wait()
				if err := c.controller.Check(); err != nil {
					t.Error(err)
				}
				c.wantWrites(name, test.want...)
				wantPaths(name, c, p)
			})
		})
	}
}

func edit(change func(*admissionregistrationv1.ValidatingWebhookConfiguration)) func(*cluster) {
	return func(c *cluster) {
		o := c.validating().DeepCopy()
		change(o)
		c.updateValidating(o)
	}
}

// The configurations have the latest CA bundle, and wait for the first.
func TestCABundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, "", owner.DeepCopy())
		c.wantWrites("without a CA")
		c.bundle.set("CA 2")
		c.wantWrites("with a CA", "create mutating", "create validating")
		c.bundle.set("CA 2\nCA 3")
		c.wantWrites("with another CA", "update validating")
		if got := string(c.validating().Webhooks[0].ClientConfig.CABundle); got != "CA 2\nCA 3" {
			t.Errorf("the CA bundle is %q", got)
		}
		// since returns for how long the configurations have had a bundle.
		since := func(bundle string) (time.Duration, error) {
			since, err := c.controller.CABundleSince([]byte(bundle))
			return time.Since(since).Round(time.Second), err
		}
		if got, err := since("CA 2\nCA 3"); err != nil || got != settled {
			t.Errorf("the configurations have had the bundle for %v, error %v, want %v", got, err, settled)
		}
		if _, err := since("CA 3"); err == nil || !strings.Contains(err.Error(), `ValidatingWebhookConfiguration "policy.celador.io" has a webhook with another CA bundle`) {
			t.Errorf("another CA bundle: %v", err)
		}
		c.stop()
		edited := c.validating().DeepCopy()
		edited.Webhooks = append(edited.Webhooks, edited.Webhooks[0])
		edited.Webhooks[1].ClientConfig.CABundle = []byte("CA 4")
		c.updateValidating(edited)
		synctest.Wait()
		if _, err := since("CA 2\nCA 3"); err == nil {
			t.Error("a webhook with another CA bundle is not noticed")
		}
		c.run()
		c.wantWrites("edited", "update validating")
		if got, err := since("CA 2\nCA 3"); err != nil || got != settled {
			t.Errorf("the configurations have had the bundle for %v again, error %v, want %v", got, err, settled)
		}
	})
}

// counter returns the sum of a metric over all labels.
func counter(t *testing.T, name string) (sum float64) {
	for _, family := range must(legacyregistry.DefaultGatherer.Gather())(t) {
		for _, m := range family.GetMetric() {
			if family.GetName() == name {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// A release writes nothing while one of the configurations belongs to another, and no replica of it
// is ready.
func TestOtherRelease(t *testing.T) {
	ownedBy := func(role string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: "ClusterRole", Name: role, UID: "role-1"}}
	}
	annotated := func(owner string) map[string]string { return map[string]string{"policy.celador.io/owner": owner} }
	for name, test := range map[string]struct {
		object metav1.ObjectMeta
		want   string // whom the configuration belongs to, and not
	}{
		"another release":                        {metav1.ObjectMeta{Annotations: annotated("other/polyfill")}, `"other/polyfill", not to "ns/polyfill"`},
		"nobody":                                 {metav1.ObjectMeta{}, `"", not to "ns/polyfill"`},
		"another ClusterRole":                    {metav1.ObjectMeta{OwnerReferences: ownedBy("other:ns")}, `"other:ns", not to "polyfill:ns"`},
		"another ClusterRole, edited annotation": {metav1.ObjectMeta{Annotations: annotated("ns/polyfill"), OwnerReferences: ownedBy("other:ns")}, `"other:ns", not to "polyfill:ns"`},
		"another release of an earlier build":    {metav1.ObjectMeta{Annotations: annotated("other/polyfill"), OwnerReferences: ownedBy("polyfill")}, `"polyfill", not to "polyfill:ns"`},
		"another namespace, edited annotation":   {metav1.ObjectMeta{Annotations: annotated("ns/polyfill"), OwnerReferences: ownedBy("polyfill:other")}, `"polyfill:other", not to "polyfill:ns"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := counter(t, "celador_webhook_configuration_sync_errors_total")
				test.object.Name = registration.Name
				c := start(t, "CA 1", owner.DeepCopy(), &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: test.object})
				c.wantWrites("at first")
				if err := c.controller.Check(); err == nil || !strings.Contains(err.Error(), `MutatingWebhookConfiguration "policy.celador.io" belongs to `+test.want) {
					t.Errorf("Check: %v", err)
				}
				if counter(t, "celador_webhook_configuration_sync_errors_total") == before {
					t.Error("the error is not counted")
				}
				if err := registration.Uninstall(t.Context(), c.client, "ns", "polyfill"); err != nil {
					t.Error(err)
				}
				c.wantWrites("uninstalled")
				if err := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), registration.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				c.client.ClearActions()
				c.wantWrites("the other release is gone", "create mutating", "create validating")
				if err := c.controller.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A new release does not create one configuration while another release creates the other: both would
// wait for each other.
func TestReleaseAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, "", owner.DeepCopy())
		c.settle()
		c.client.PrependReactor("create", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewAlreadyExists(admissionregistrationv1.Resource("validatingwebhookconfigurations"), registration.Name)
		})
		c.bundle.set("CA 1")
		if writes := c.settle(); slices.Contains(writes, "create mutating") || len(writes) == 0 {
			t.Errorf("writes are %q", writes)
		}
	})
}

// An uninstalled release registers nothing, although replicas still run. The same release can be
// installed again.
func TestUninstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, "CA 1", owner.DeepCopy())
		p := policy("p", "v1")
		c.create(p)
		c.settle()
		conflicts := 1
		c.client.PrependReactor("update", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
			conflicts--
			return conflicts >= 0, nil, apierrors.NewConflict(admissionregistrationv1.Resource("validatingwebhookconfigurations"), registration.Name, nil)
		})
		if err := registration.Uninstall(t.Context(), c.client, "ns", "polyfill"); err != nil {
			t.Fatal(err)
		}
		c.wantWrites("uninstalled", "update mutating", "update validating", "update validating")
		c.create(policy("other", "v2"))
		c.wantWrites("a policy is created afterwards")
		if v, m := c.validating(), c.mutating(); len(v.Webhooks)+len(m.Webhooks) > 0 {
			t.Errorf("webhooks are left: %v, %v", v.Webhooks, m.Webhooks)
		}
		if err := c.controller.Check(); err != nil {
			t.Error(err)
		}

		// The garbage collector deletes the configurations with the ClusterRole.
		roles, configurations := c.client.RbacV1().ClusterRoles(), c.client.AdmissionregistrationV1()
		for _, err := range []error{
			roles.Delete(t.Context(), "polyfill:ns", metav1.DeleteOptions{}),
			configurations.MutatingWebhookConfigurations().Delete(t.Context(), registration.Name, metav1.DeleteOptions{}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		c.client.ClearActions()
		c.wantWrites("the ClusterRole is gone")

		again := owner.DeepCopy()
		again.UID = types.UID("role-2")
		must(roles.Create(t.Context(), again, metav1.CreateOptions{}))(t)
		c.client.ClearActions()
		c.wantWrites("installed again", "create mutating", "update validating")
		if v := c.validating(); len(v.Webhooks) != 3 || v.OwnerReferences[0].UID != "role-2" || v.Annotations["policy.celador.io/uninstalled"] != "" {
			t.Errorf("the configuration is %v", v)
		}
		if err := registration.Uninstall(t.Context(), fake.NewSimpleClientset(), "ns", "polyfill"); err != nil {
			t.Errorf("with nothing to uninstall: %v", err)
		}
	})
}

// A release that is being deleted registers nothing that would be left over.
func TestDeletedRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		role := owner.DeepCopy()
		role.DeletionTimestamp, role.Finalizers = new(metav1.Now()), []string{metav1.FinalizerDeleteDependents}
		start(t, "CA 1", role).wantWrites("the ClusterRole is being deleted")
		start(t, "CA 1").wantWrites("without a ClusterRole")
	})
}

// Errors are tried again, and an error of one configuration does not keep the other from its
// update.
func TestErrors(t *testing.T) {
	for name, err := range map[string]error{
		"forbidden":      apierrors.NewForbidden(admissionregistrationv1.Resource("validatingwebhookconfigurations"), registration.Name, nil),
		"created before": apierrors.NewAlreadyExists(admissionregistrationv1.Resource("validatingwebhookconfigurations"), registration.Name),
		"conflict":       apierrors.NewConflict(admissionregistrationv1.Resource("validatingwebhookconfigurations"), registration.Name, nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, "", owner.DeepCopy())
				c.settle()
				failures := 3
				c.client.PrependReactor("create", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
					failures--
					return failures >= 0, nil, err
				})
				c.bundle.set("CA 1")
				c.wantWrites(name, "create mutating", "create validating", "create validating", "create validating", "create validating")

				if err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), registration.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				failures = 1_000
				m := c.mutating().DeepCopy()
				m.Annotations = nil
				must(c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(t.Context(), m, metav1.UpdateOptions{}))(t)
				c.client.ClearActions()
				if writes := c.settle(); !slices.Contains(writes, "update mutating") {
					t.Errorf("while the validating configuration cannot be created: writes are %q", writes)
				}
			})
		})
	}
}

// A controller that has lost its lease writes nothing, and everything when it has the lease again.
func TestRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, "CA 1", owner.DeepCopy())
		c.settle()
		c.stop()
		p := policy("p", "v1")
		c.create(p)
		c.bundle.set("CA 2")
		c.wantWrites("not running")
		c.run()
		c.wantWrites("running again", "update validating")
		wantPaths("running again", c, p)
		c.stop()
	})
}
