// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/policy"
	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

// follower follows the policies and bindings of a clientset, in the bubble of a test.
type follower struct {
	clientset *fake.Clientset
	synced    func() bool
	stop      func()

	lock sync.Mutex
	// compiled and changes record the calls of the store since the test last read them.
	compiled, changes []string
	// evaluated holds the names of the policies that requests have evaluated.
	evaluated sets.Set[string]
	// held maps the names of policies whose compilation blocks to channels that end it.
	held map[string]chan struct{}
	// watches are the watches of the informers.
	watches []*watch.RaceFreeFakeWatcher
}

// follow starts a follower with the given objects. Compilations of policies whose name begins
// with "slow" block until release.
func follow(t *testing.T, objects ...kuberuntime.Object) *follower {
	t.Helper()
	f := &follower{clientset: fake.NewSimpleClientset(objects...), evaluated: sets.New[string](), held: map[string]chan struct{}{}}
	f.clientset.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := f.clientset.Tracker().Watch(action.GetResource(), action.GetNamespace())
		if w, ok := w.(*watch.RaceFreeFakeWatcher); ok {
			f.lock.Lock()
			defer f.lock.Unlock()
			f.watches = append(f.watches, w)
		}
		return true, w, err
	})
	factory := informers.NewSharedInformerFactory(f.clientset, 0)
	stop := make(chan struct{})
	followed, err := policy.Follow[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding](wait.ContextForChannel(stop), f,
		factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer(), bindingsOf(f.clientset), sameSpec, policymetrics.For(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	f.synced = followed.Synced
	f.expect(t, "before the informers start", "hold")
	f.stop = sync.OnceFunc(func() {
		close(stop)
		factory.Shutdown()
		synctest.Wait()
		f.lock.Lock()
		defer f.lock.Unlock()
		for _, held := range f.held {
			close(held)
		}
	})
	t.Cleanup(f.stop)
	factory.Start(stop)
	settle()
	return f
}

// following returns a follower whose store holds the given objects. The test expects the changes
// that follow.
func following(t *testing.T, objects ...kuberuntime.Object) *follower {
	t.Helper()
	f := follow(t, objects...)
	f.expectSynced(t, "at the start", true)
	f.changes = nil
	return f
}

// settle advances the bubble's clock by a second. Blocked compilations stay blocked.
func settle() {
	time.Sleep(time.Second) // of the bubble
	synctest.Wait()
}

// Compile implements policy.Store.
func (f *follower) Compile(p *v1.ValidatingAdmissionPolicy) (put func()) {
	version := fmt.Sprint(p.Name, " ", p.Spec.Variables[0].Expression)
	f.lock.Lock()
	f.compiled = append(f.compiled, version)
	var held chan struct{}
	if strings.HasPrefix(p.Name, "slow") {
		held = make(chan struct{})
		f.held[p.Name] = held
	}
	f.lock.Unlock()
	if held != nil {
		<-held
	}
	return func() { f.change("put " + version) }
}

// SetUncompiled implements policy.Store.
func (f *follower) SetUncompiled(p *v1.ValidatingAdmissionPolicy) {
	f.change(fmt.Sprint("set ", p.Name, " ", p.Spec.Variables[0].Expression))
}

// Evaluated implements policy.Store.
func (f *follower) Evaluated(name string) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.evaluated.Has(name)
}

// evaluate makes the follower report that a request has evaluated the policies.
func (f *follower) evaluate(names ...string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.evaluated.Insert(names...)
}

// Hold implements policy.Store.
func (f *follower) Hold() (release func()) {
	f.change("hold")
	return func() { f.change("release") }
}

// CompileAll implements policy.Store.
func (f *follower) CompileAll(context.Context) { f.change("compile all") }

// DeletePolicy implements policy.Store.
func (f *follower) DeletePolicy(name string) { f.change("delete " + name) }

// Set implements policy.BindingStore.
func (f *follower) Set(objects ...kuberuntime.Object) error {
	for _, b := range objects {
		f.change("bind " + b.(*v1.ValidatingAdmissionPolicyBinding).Name)
	}
	return nil
}

// DeleteBinding implements policy.BindingStore.
func (f *follower) DeleteBinding(name string) { f.change("unbind " + name) }

func (f *follower) change(what string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.changes = append(f.changes, what)
}

// expire ends the watches of the informers, which list everything again some time later.
func (f *follower) expire() {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, w := range f.watches {
		expired := apierrors.NewResourceExpired("too old").Status()
		w.Error(&expired)
	}
	f.watches = nil
}

// release ends the current compilation of a policy.
func (f *follower) release(t *testing.T, name string) {
	t.Helper()
	f.lock.Lock()
	held := f.held[name]
	delete(f.held, name)
	f.lock.Unlock()
	if held == nil {
		t.Fatalf("policy %s is not being compiled", name)
	}
	close(held)
	synctest.Wait()
}

// expect expects exactly these changes of the store since the last call, in any order.
func (f *follower) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	f.lock.Lock()
	defer f.lock.Unlock()
	slices.Sort(f.changes)
	slices.Sort(want)
	if !slices.Equal(f.changes, want) {
		t.Errorf("%s: changes of the store are %q, want %q", when, f.changes, want)
	}
	f.changes = nil
}

func (f *follower) expectSynced(t *testing.T, when string, want bool) {
	t.Helper()
	synctest.Wait()
	if got := f.synced(); got != want {
		t.Errorf("%s: synced is %t, want %t", when, got, want)
	}
}

// write creates or updates an object, or deletes it.
func write[T any](t *testing.T, _ T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func (f *follower) create(t *testing.T, p *v1.ValidatingAdmissionPolicy) {
	t.Helper()
	_, err := f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), p, metav1.CreateOptions{})
	write(t, p, err)
}

func (f *follower) update(t *testing.T, p *v1.ValidatingAdmissionPolicy) {
	t.Helper()
	_, err := f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicies().Update(t.Context(), p, metav1.UpdateOptions{})
	write(t, p, err)
}

func (f *follower) delete(t *testing.T, name string) {
	t.Helper()
	write(t, name, f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// named returns a policy of the given generation. The text distinguishes it from other policies
// of the same name.
func named(name string, generation int64, text string) *v1.ValidatingAdmissionPolicy {
	return &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation, ResourceVersion: text},
		Spec:       v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{{Name: "v", Expression: text}}},
	}
}

func sameSpec(a, b *v1.ValidatingAdmissionPolicy) bool {
	return equality.Semantic.DeepEqual(&a.Spec, &b.Spec)
}

// bindingsOf lists and watches the bindings of a client.
func bindingsOf(client clientset.Interface) cache.ListerWatcher {
	bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	return policy.ListerWatcher(client, bindings.List, bindings.Watch)
}

func bindingOf(name string) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name}}
}

// Up to maxSlow blocked compilations do not delay other policies and bindings.
func TestExpensivePoliciesDelayNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.evaluate("cheap")
		for i := range min(runtime.GOMAXPROCS(0), 8) + 3 {
			f.create(t, named(fmt.Sprint("slow", i), 1, "a"))
			settle()
		}
		f.expect(t, "expensive policies")
		f.create(t, named("cheap", 1, "a"))
		settle()
		f.expect(t, "a cheap policy", "put cheap a")
		f.update(t, named("cheap", 2, "b"))
		settle()
		f.expect(t, "its update", "put cheap b")
		binding := bindingOf("cheap")
		_, err := f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{})
		write(t, binding, err)
		f.expect(t, "its binding", "bind cheap")
		changed := bindingOf("cheap")
		changed.ResourceVersion = "2"
		_, err = f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(t.Context(), changed, metav1.UpdateOptions{})
		write(t, changed, err)
		f.expect(t, "the change of its binding", "bind cheap")
		write(t, binding, f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "cheap", metav1.DeleteOptions{}))
		f.expect(t, "the deletion of its binding", "unbind cheap")
		f.delete(t, "cheap")
		f.expect(t, "its deletion", "delete cheap")
		f.release(t, "slow0")
		f.expect(t, "an expensive policy that is compiled", "put slow0 a")
	})
}

// Policies that exist at the start take effect together, without being compiled first.
func TestSyncedOnceTheInitialListIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, named("slow", 1, "a"), named("cheap", 1, "a"), bindingOf("slow"))
		if want := []string{"release", "compile all"}; !slices.Equal(f.changes[len(f.changes)-2:], want) {
			t.Errorf("last changes of the store are %q, want %q", f.changes, want)
		}
		f.expect(t, "at first", "set slow a", "set cheap a", "bind slow", "release", "compile all")
		f.expectSynced(t, "at first", true)
		if len(f.compiled) > 0 {
			t.Errorf("compiled are %q, want none", f.compiled)
		}
	})
}

func TestSyncedWithoutPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		follow(t).expectSynced(t, "no policies", true)
	})
}

func TestPolicyDeletedWhileItIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.create(t, named("slow", 1, "a"))
		f.delete(t, "slow")
		f.expect(t, "deleted", "delete slow")
		f.release(t, "slow")
		f.expect(t, "compiled")
	})
}

// The compilation of a deleted policy is discarded, even if a policy of the same name exists
// again. The fake clientset assigns no UIDs.
func TestPolicyCreatedAgainWhileItIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.create(t, named("slow", 1, "a"))
		f.delete(t, "slow")
		f.create(t, named("slow", 1, "b"))
		f.expect(t, "deleted", "delete slow")
		f.release(t, "slow")
		f.expect(t, "the first is compiled")
		f.release(t, "slow")
		f.expect(t, "the second is compiled", "put slow b")
	})
}

// A changed policy that requests have evaluated takes effect when it is compiled. Until then, the
// version of the start stays.
func TestPolicyOfTheStartIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t, named("slow", 1, "a"))
		f.evaluate("slow")
		f.update(t, named("slow", 2, "b"))
		f.expect(t, "while it is compiled")
		f.release(t, "slow")
		f.expect(t, "compiled", "put slow b")
	})
}

// Changes of a policy that no request evaluates take effect at once. They are compiled together
// later.
func TestPolicyWithoutRequestsIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t, named("slow", 1, "a"))
		for i, text := range []string{"b", "c", "d"} {
			f.update(t, named("slow", int64(2+i), text))
			f.expect(t, "changed", "set slow "+text)
		}
		if len(f.compiled) > 0 {
			t.Errorf("compiled are %q, want none", f.compiled)
		}
		time.Sleep(10 * time.Second) // of the bubble
		f.expect(t, "later", "compile all")
	})
}

// An interrupted watch delivers a deletion and a creation as an update.
func TestPolicyReplacedWhileItIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.create(t, named("slow", 1, "a"))
		other := named("slow", 1, "b")
		other.UID = types.UID("other")
		f.update(t, other)
		f.release(t, "slow")
		f.expect(t, "the first is compiled")
		f.release(t, "slow")
		f.expect(t, "the second is compiled", "put slow b")
	})
}

// When informers list everything again, only policies and bindings that have changed meanwhile take
// effect again.
func TestListedAgain(t *testing.T) {
	for _, tc := range []struct {
		name string
		// change changes objects while nothing is watched.
		change func(*testing.T, *follower)
		want   []string
	}{
		{name: "nothing changed"},
		{
			name:   "policy changed",
			change: func(t *testing.T, f *follower) { f.update(t, named("a", 2, "2")) },
			want:   []string{"set a 2"},
		},
		{
			name: "binding deleted",
			change: func(t *testing.T, f *follower) {
				write(t, "b", f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "b", metav1.DeleteOptions{}))
			},
			want: []string{"unbind b"},
		},
		{
			name: "binding changed",
			change: func(t *testing.T, f *follower) {
				changed := bindingOf("a")
				changed.ResourceVersion = "2"
				_, err := f.clientset.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(t.Context(), changed, metav1.UpdateOptions{})
				write(t, changed, err)
			},
			want: []string{"bind a"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := following(t, named("a", 1, "1"), named("b", 1, "1"), bindingOf("a"), bindingOf("b"))
				f.expire()
				synctest.Wait()
				if tc.change != nil {
					tc.change(t, f)
				}
				f.expect(t, "before the lists")
				time.Sleep(time.Minute) // of the bubble
				synctest.Wait()
				f.changes = slices.DeleteFunc(f.changes, func(change string) bool { return change == "compile all" })
				f.expect(t, "after the lists", tc.want...)
				if len(f.watches) != 2 {
					t.Errorf("%d kinds are watched again, want 2", len(f.watches))
				}
			})
		})
	}
}

// A compiled version takes effect even if a newer version exists. Otherwise a policy that
// changes more often than it can be compiled would never take effect. Versions in between are
// skipped.
func TestPolicyUpdatedWhileItIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.create(t, named("slow", 1, "a"))
		f.update(t, named("slow", 2, "b"))
		f.update(t, named("slow", 3, "c"))
		f.expect(t, "while it is compiled")
		f.release(t, "slow")
		f.expect(t, "the first is compiled", "put slow a")
		f.release(t, "slow")
		f.expect(t, "the last is compiled", "put slow c")
		if want := []string{"slow a", "slow c"}; !slices.Equal(f.compiled, want) {
			t.Errorf("compiled are %q, want %q", f.compiled, want)
		}
	})
}

// A write of another server may change the spec and leave the generation as it is.
func TestSpecChangesWithoutGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		f.create(t, named("slow", 1, "a"))
		f.update(t, named("slow", 1, "b"))
		f.release(t, "slow")
		f.expect(t, "the first is compiled", "put slow a")
		f.release(t, "slow")
		f.expect(t, "the second is compiled", "put slow b")
		f.update(t, named("slow", 1, "c"))
		f.expect(t, "changed again", "set slow c")
	})
}

// A status write does not compile a policy, whether or not the policy is in effect.
func TestUnchangedPolicyIsCompiledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		written := func(status string) *v1.ValidatingAdmissionPolicy {
			p := named("slow", 1, "a")
			p.ResourceVersion = status
			p.Status.Conditions = []metav1.Condition{{Type: status}}
			return p
		}
		f.create(t, written("1"))
		f.update(t, written("2"))
		f.release(t, "slow")
		f.expect(t, "compiled", "put slow a")
		f.update(t, written("3"))
		f.expect(t, "written again")
		if want := []string{"slow a"}; !slices.Equal(f.compiled, want) {
			t.Errorf("compiled are %q, want %q", f.compiled, want)
		}
	})
}

// When the server stops, no further policy is compiled.
func TestCompilationsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := following(t)
		const policies = 100
		for i := range policies {
			f.create(t, named(fmt.Sprint("slow", i), 1, "a"))
		}
		settle()
		before := len(f.compiled)
		if before == 0 || before == policies {
			t.Fatalf("%d policies are compiled, want some", before)
		}
		f.stop()
		synctest.Wait()
		if after := len(f.compiled); after != before {
			t.Errorf("%d compilations were started after the stop", after-before)
		}
	})
}
