// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"celador.io/admission/policytest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	v1 "celador.io/api/admissionregistration/v1"
)

// A change is in effect when its watch event has been handled.
func TestChangesTakeEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugin, s := started(t)
		policies := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		bindings := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		few, bound := atMost("few", "5"), policytest.Binding("few", "few", v1.Deny)
		write := func(object metav1.Object, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		remove := func(err error) {
			t.Helper()
			write(nil, err)
		}
		expect := func(what string, replicas int32, want string) {
			t.Helper()
			begin := time.Now()
			synctest.Wait()
			if got := text(send(t, plugin, create(replicas), interfaces()).Err); got != want {
				t.Errorf("%s: error is %q, want %q", what, got, want)
			}
			if waited := time.Since(begin); waited != 0 {
				t.Errorf("%s: in effect after %v", what, waited)
			}
		}
		expect("nothing is stored", 9, "")

		write(bindings.Create(t.Context(), bound, metav1.CreateOptions{}))
		expect("binding without policy", 9, "")
		write(policies.Create(t.Context(), few, metav1.CreateOptions{}))
		expect("policy after binding", 9, denied)
		expect("policy after binding, few", 3, "")

		few = few.DeepCopy()
		few.Generation, few.ResourceVersion = 2, "2"
		few.Spec.Validations[0].Expression = "object.spec.replicas <= 10"
		write(policies.Update(t.Context(), few, metav1.UpdateOptions{}))
		expect("changed policy", 9, "")

		few = few.DeepCopy()
		few.Generation, few.ResourceVersion = 3, "3"
		few.Spec.Validations[0].Expression = "object.spec.replicas <= 5"
		write(policies.Update(t.Context(), few, metav1.UpdateOptions{}))
		expect("policy changed back", 9, denied)

		bound = bound.DeepCopy()
		bound.ResourceVersion, bound.Spec.ValidationActions = "2", []v1.ValidationAction{v1.Warn}
		write(bindings.Update(t.Context(), bound, metav1.UpdateOptions{}))
		expect("binding that warns", 9, "")

		bound = bound.DeepCopy()
		bound.ResourceVersion, bound.Spec.ValidationActions = "3", []v1.ValidationAction{v1.Deny}
		write(bindings.Update(t.Context(), bound, metav1.UpdateOptions{}))
		expect("binding that denies again", 9, denied)

		remove(policies.Delete(t.Context(), "few", metav1.DeleteOptions{}))
		expect("deleted policy", 9, "")
		write(policies.Create(t.Context(), few, metav1.CreateOptions{}))
		expect("policy created again", 9, denied)
		remove(bindings.Delete(t.Context(), "few", metav1.DeleteOptions{}))
		expect("deleted binding", 9, "")
	})
}

// A policy that is deleted and recreated between two events has generation 1, like the policy
// before.
func TestReplacedPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		few := atMost("few", "5")
		few.UID = "one"
		plugin, s := started(t, few, policytest.Binding("few", "few", v1.Deny))
		other := atMost("few", "10")
		other.UID, other.ResourceVersion = "two", "2"
		if _, err := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Update(t.Context(), other, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := send(t, plugin, create(9), interfaces()).Err; err != nil {
			t.Error(err)
		}
	})
}

// An object that is deleted while the watch is interrupted has no event. The informer delivers a
// tombstone.
func TestDeletedDuringInterruption(t *testing.T) {
	for _, gone := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"} {
		t.Run(gone, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, atMost("few", "5"), policytest.Binding("few", "few", v1.Deny))
				watches := interruptible(s, gone)
				plugin := newPlugin(t)
				s.initialize(t, plugin)
				s.start()
				if got := text(send(t, plugin, create(9), interfaces()).Err); got != denied {
					t.Fatalf("error is %q, want %q", got, denied)
				}
				resource := v1.SchemeGroupVersion.WithResource(gone)
				if err := s.policies.Tracker().Delete(resource, "", "few"); err != nil {
					t.Fatal(err)
				}
				first := <-watches
				first.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
				first.Stop()
				<-watches // the informer has relisted
				synctest.Wait()
				if err := send(t, plugin, create(9), interfaces()).Err; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// interruptible returns the watches of a resource. They deliver only the events that the test
// sends.
func interruptible(s *server, resource string) <-chan *watch.FakeWatcher {
	watches := make(chan *watch.FakeWatcher, 10)
	s.policies.PrependWatchReactor(resource, func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		watches <- w
		return true, w, nil
	})
	return watches
}

// A write of another server may change the spec and leave the generation as it is.
func TestSpecChangesWithoutGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		few := atMost("few", "5")
		few.UID = types.UID("one")
		plugin, s := started(t, few, policytest.Binding("few", "few", v1.Deny))
		written := few.DeepCopy()
		written.ResourceVersion = "2"
		written.Spec.Validations[0].Expression = "true"
		if _, err := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Update(t.Context(), written, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := text(send(t, plugin, create(9), interfaces()).Err); got != "" {
			t.Errorf("error is %q, want none", got)
		}
	})
}
