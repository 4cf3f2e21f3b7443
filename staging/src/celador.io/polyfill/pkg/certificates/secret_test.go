// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/cert"

	"celador.io/polyfill/pkg/certificates"
)

const (
	namespace  = "celador-system"
	service    = "celador-webhook"
	secretName = "celador-webhook-certificates"
	serverName = "celador-webhook.celador-system.svc"
)

// newClient returns a client that refuses updates of an outdated resourceVersion, as API servers do.
// The tracker of client-go does not.
func newClient(objects ...runtime.Object) *fake.Clientset {
	client := fake.NewSimpleClientset(objects...)
	var lock sync.Mutex
	version := 0
	client.PrependReactor("*", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		lock.Lock()
		defer lock.Unlock()
		write, ok := action.(clienttesting.CreateAction) // or an update
		if !ok {
			return false, nil, nil
		}
		secret := write.GetObject().(*corev1.Secret)
		if action.GetVerb() == "update" {
			stored, err := client.Tracker().Get(action.GetResource(), namespace, secret.Name)
			if err != nil {
				return true, nil, err
			}
			if stored.(*corev1.Secret).ResourceVersion != secret.ResourceVersion {
				return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), secret.Name, errors.New("the object has been modified"))
			}
		}
		version++
		secret.ResourceVersion = strconv.Itoa(version)
		return false, nil, nil
	})
	return client
}

// settle lets informers and leaders react, in the time of the bubble.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// start runs a replica that is the leader until the returned function is called.
func start(t *testing.T, client *fake.Clientset, o certificates.Options, listeners ...listener) (*certificates.Secret, context.CancelFunc) {
	t.Helper()
	s, err := certificates.NewSecret(client, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listeners {
		s.AddListener(l)
	}
	go s.Run(t.Context())
	return s, lead(t, s)
}

// registered tells that the webhook configurations have had each CA bundle always.
func registered([]byte) (since time.Time, err error) { return since, nil }

// lead makes the replica the leader until the returned function is called.
func lead(t *testing.T, s *certificates.Secret) context.CancelFunc {
	ctx, resign := context.WithCancel(t.Context())
	go s.Rotate(ctx, registered)
	settle()
	return resign
}

// handshake connects as an API server whose clock is ahead by the skew, with a configuration that
// has the bundle, and returns its error.
func handshake(certificate *tls.Certificate, bundle []byte, skew time.Duration) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("no bundle")
	}
	client, server := net.Pipe()
	go func() {
		_ = tls.Server(server, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate, nil }}).Handshake()
		_ = server.Close()
	}()
	defer client.Close()
	return tls.Client(client, &tls.Config{RootCAs: roots, ServerName: serverName, Time: func() time.Time { return time.Now().Add(skew) }}).Handshake()
}

func mustServe(t *testing.T, s certificates.Provider, skew time.Duration) *tls.Certificate {
	t.Helper()
	certificate, err := s.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := handshake(certificate, s.CABundle(), skew); err != nil {
		t.Errorf("an API server whose clock is %s ahead: %v", skew, err)
	}
	return certificate
}

func stored(t *testing.T, client *fake.Clientset) *corev1.Secret {
	t.Helper()
	secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), secretName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestFirstStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, o := newClient(), certificates.NewOptions(namespace, service)
		first, err := certificates.NewSecret(client, o)
		if err != nil {
			t.Fatal(err)
		}
		go first.Run(t.Context())
		settle()
		if err := first.Check(); err == nil {
			t.Error("a replica without a certificate is ready")
		}
		if _, err := first.GetCertificate(nil); err == nil || first.CABundle() != nil {
			t.Errorf("a replica without a certificate serves one: %v", err)
		}
		changes := 0
		first.AddListener(listener(func() { changes++ }))

		// Two leaders at a time.
		go first.Rotate(t.Context(), registered)
		second, _ := start(t, client, o)
		time.Sleep(time.Minute)
		synctest.Wait()

		if a, b := mustServe(t, first, 0), mustServe(t, second, 0); a.Leaf.SerialNumber.Cmp(b.Leaf.SerialNumber) != 0 {
			t.Error("the replicas serve different certificates")
		}
		for _, s := range []*certificates.Secret{first, second} {
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		}
		if changes != 1 {
			t.Errorf("%d changes for one certificate", changes)
		}
		if secret := stored(t, client); secret.Type != corev1.SecretTypeTLS || len(secret.Data) != 4 {
			t.Errorf("the Secret has type %s and %d keys", secret.Type, len(secret.Data))
		}
		certificate := mustServe(t, first, 0).Leaf
		for _, name := range []string{serverName, service, service + "." + namespace, serverName + ".cluster.local"} {
			if err := certificate.VerifyHostname(name); err != nil {
				t.Error(err)
			}
		}
	})
}

// A history has the values that are still in use somewhere, the newest last.
type history[T any] []struct {
	value T
	key   string
	until time.Time // of all but the last
}

// add records the current value, and returns all that are in use now. A value that another one
// replaces now is in use until late.
func (h *history[T]) add(value T, key string, now, late time.Time) history[T] {
	if n := len(*h); n == 0 || (*h)[n-1].key != key {
		if n > 0 {
			(*h)[n-1].until = late
		}
		*h = append(*h, struct {
			value T
			key   string
			until time.Time
		}{value: value, key: key})
	}
	for len(*h) > 1 && (*h)[0].until.Before(now) {
		*h = (*h)[1:]
	}
	return *h
}

type listener func()

func (l listener) Enqueue() { l() }

// TestRotation lets many lifetimes pass. At each moment API servers that know any bundle of the last
// propagation time call replicas that serve any certificate of that time.
func TestRotation(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		authority, serving, propagation, total time.Duration
		leaders                                time.Duration // how often the leader changes, or 0
	}{
		"default":        {3650 * day, 365 * day, 10 * time.Minute, 15 * 365 * day, 0},
		"every minute":   {6 * time.Minute, 90 * time.Second, 14 * time.Second, 20 * time.Minute, 0},
		"equal":          {time.Hour, time.Hour, 9 * time.Minute, 6 * time.Hour, 0},
		"leaders change": {6 * time.Hour, time.Hour, 9 * time.Minute, 24 * time.Hour, 7*time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient()
				o := certificates.NewOptions(namespace, service)
				o.AuthorityLifetime, o.ServingLifetime, o.Propagation = test.authority, test.serving, test.propagation
				replicas := make([]*certificates.Secret, 2)
				changed := make(chan struct{}, 100)
				resign := context.CancelFunc(func() {})
				for i := range replicas {
					resign()
					replicas[i], resign = start(t, client, o, listener(func() { changed <- struct{}{} }))
				}
				leader, elected := 1, time.Now()
				var bundles history[[]byte]
				var served history[*tls.Certificate]
				authorities, leaves, overlaps := map[string]bool{}, map[string]bool{}, 0
				begin := time.Now()
				for now := begin; now.Before(begin.Add(test.total)); now = time.Now() {
					if test.leaders > 0 && now.Sub(elected) > test.leaders {
						resign()
						leader, elected = 1-leader, now
						resign = lead(t, replicas[leader])
						now = time.Now()
					}
					bundle := replicas[leader].CABundle()
					certificate, err := replicas[1-leader].GetCertificate(nil)
					if err != nil {
						t.Fatal(err)
					}
					// A change reaches the last API server or replica just before the time is over.
					late := now.Add(o.Propagation - time.Second)
					inUse := served.add(certificate, string(certificate.Certificate[0]), now, late)
					for _, b := range bundles.add(bundle, string(bundle), now, late) {
						for _, c := range inUse {
							if err := handshake(c.value, b.value, 0); err != nil {
								t.Fatalf("after %s: %v", now.Sub(begin), err)
							}
						}
					}
					if err := errors.Join(replicas[0].Check(), replicas[1].Check()); err != nil {
						t.Fatalf("after %s: %v", now.Sub(begin), err)
					}
					known, err := cert.ParseCertsPEM(bundle)
					if err != nil {
						t.Fatal(err)
					}
					authorities[string(known[0].Raw)] = true
					leaves[string(certificate.Certificate[0])] = true
					if len(known) > 1 {
						overlaps++
					}
					if len(known) > 2 {
						t.Fatalf("after %s the bundle has %d authorities", now.Sub(begin), len(known))
					}
					pause := test.serving / 12
					if len(bundles) > 1 || len(served) > 1 {
						pause = min(pause, o.Propagation/7)
					}
					select {
					case <-changed:
						synctest.Wait()
					case <-time.After(pause):
					}
				}
				// Each lives for two thirds of its lifetime, and some waits in addition.
				atLeast := func(what string, got int, lifetime time.Duration) {
					if want := int(test.total / lifetime); got < want {
						t.Errorf("%d %s in %s, want at least %d", got, what, test.total, want)
					}
				}
				atLeast("authorities", len(authorities), test.authority)
				atLeast("serving certificates", len(leaves), test.serving)
				if overlaps == 0 {
					t.Error("no bundle had two authorities")
				}
				t.Logf("%d authorities, %d serving certificates", len(authorities), len(leaves))
			})
		})
	}
}

// TestUnregistered has webhook configurations without the CA bundle of a renewed authority: API
// servers would reject a certificate of that authority.
func TestUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := certificates.NewOptions(namespace, service)
		o.AuthorityLifetime, o.ServingLifetime, o.Propagation = 24*time.Hour, 24*time.Hour, time.Minute
		client := newClient()
		s, err := certificates.NewSecret(client, o)
		if err != nil {
			t.Fatal(err)
		}
		go s.Run(t.Context())
		var known atomic.Pointer[[]byte] // the bundle of the configurations
		var since time.Time
		var asked atomic.Bool
		go s.Rotate(t.Context(), func(bundle []byte) (time.Time, error) {
			asked.Store(true)
			if registered := known.Load(); registered != nil && !bytes.Equal(*registered, bundle) {
				return time.Time{}, errors.New("another bundle")
			}
			return since, nil
		})
		settle()
		labeled := stored(t, client).DeepCopy() // a change for which the leader looks at the Secret
		labeled.Labels = map[string]string{"team": "a"}
		if _, err := client.CoreV1().Secrets(namespace).Update(t.Context(), labeled, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		if asked.Load() {
			t.Error("the leader waits for the configurations although no renewal is due")
		}
		known.Store(new(s.CABundle()))
		first := mustServe(t, s, 0).Leaf

		time.Sleep(o.AuthorityLifetime*2/3 + time.Hour)
		synctest.Wait()
		if bytes.Equal(s.CABundle(), *known.Load()) {
			t.Fatal("the authority was not renewed")
		}
		if !mustServe(t, s, 0).Leaf.Equal(first) {
			t.Error("the replica serves a certificate of an authority that no API server knows")
		}

		since = time.Now()
		known.Store(new(s.CABundle()))
		time.Sleep(o.Propagation - time.Second)
		synctest.Wait()
		if !mustServe(t, s, 0).Leaf.Equal(first) {
			t.Error("the replica serves another certificate before API servers have seen the configurations")
		}
		time.Sleep(o.Propagation)
		synctest.Wait()
		if mustServe(t, s, 0).Leaf.Equal(first) {
			t.Error("the replica serves the old certificate although API servers know the new authority")
		}
	})
}

// TestClockSkew has a leader make certificates, and then replicas and API servers with other clocks
// use them. The clock of a bubble begins at the same time always.
func TestClockSkew(t *testing.T) {
	made := func(after time.Duration) (secret *corev1.Secret) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(after)
			client := newClient()
			s, _ := start(t, client, certificates.NewOptions(namespace, service))
			for _, skew := range []time.Duration{-30 * time.Minute, 30 * time.Minute} {
				mustServe(t, s, skew)
			}
			secret = stored(t, client)
		})
		return secret
	}
	for name, test := range map[string]struct{ maker, taker time.Duration }{
		"behind": {time.Hour, 30 * time.Minute},
		"ahead":  {time.Hour, 90 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			secret := made(test.maker)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(test.taker)
				client := newClient(secret.DeepCopy())
				s, _ := start(t, client, certificates.NewOptions(namespace, service))
				time.Sleep(time.Minute)
				if err := s.Check(); err != nil {
					t.Error(err)
				}
				mustServe(t, s, 0)
				if !maps.EqualFunc(stored(t, client).Data, secret.Data, bytes.Equal) {
					t.Error("a leader with another clock replaced the certificates")
				}
			})
		})
	}
}

// damages returns changes that make the content of a Secret unusable.
func damages(t *testing.T) map[string]func(map[string][]byte) {
	var other map[string][]byte
	synctest.Test(t, func(t *testing.T) {
		client := newClient()
		start(t, client, certificates.NewOptions(namespace, service))
		other = stored(t, client).Data
	})
	damages := map[string]func(map[string][]byte){
		"empty":            func(data map[string][]byte) { clear(data) },
		"another key pair": func(data map[string][]byte) { data["tls.crt"], data["tls.key"] = other["tls.crt"], other["tls.key"] },
	}
	for key := range other {
		damages["no "+key] = func(data map[string][]byte) { delete(data, key) }
		damages["truncated "+key] = func(data map[string][]byte) { data[key] = data[key][:len(data[key])/2] }
		damages["text in "+key] = func(data map[string][]byte) { data[key] = []byte("edited by hand") }
		damages["another "+key] = func(data map[string][]byte) { data[key] = other[key] }
	}
	return damages
}

func TestDamagedSecret(t *testing.T) {
	for name, damage := range damages(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient()
				o := certificates.NewOptions(namespace, service)
				replica, resign := start(t, client, o)
				resign()
				settle()
				before := mustServe(t, replica, 0)
				good := stored(t, client).Data

				broken := stored(t, client)
				broken.Data = maps.Clone(broken.Data)
				damage(broken.Data)
				if _, err := client.CoreV1().Secrets(namespace).Update(t.Context(), broken, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				settle()
				if mustServe(t, replica, 0) != before {
					t.Error("the replica serves another certificate")
				}

				go replica.Rotate(t.Context(), registered)
				settle()
				if mustServe(t, replica, 0) != before || !maps.EqualFunc(stored(t, client).Data, good, bytes.Equal) {
					t.Error("the leader did not write the last content")
				}
			})
			// A cluster may also begin with such a Secret.
			synctest.Test(t, func(t *testing.T) {
				client := newClient()
				start(t, client, certificates.NewOptions(namespace, service))
				broken := stored(t, client)
				broken.Data = maps.Clone(broken.Data)
				damage(broken.Data)
				client = newClient(broken)
				replica, _ := start(t, client, certificates.NewOptions(namespace, service))
				mustServe(t, replica, 0)
			})
		})
	}
}

func TestDeletedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient()
		replica, _ := start(t, client, certificates.NewOptions(namespace, service))
		before, good := mustServe(t, replica, 0), stored(t, client)
		if err := client.CoreV1().Secrets(namespace).Delete(t.Context(), secretName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		if mustServe(t, replica, 0) != before || !maps.EqualFunc(stored(t, client).Data, good.Data, bytes.Equal) {
			t.Error("the leader did not write the last content")
		}
	})
}

// TestExpired begins with a Secret of a cluster that was off for longer than certificates live.
func TestExpired(t *testing.T) {
	o := certificates.NewOptions(namespace, service)
	o.ServingLifetime, o.AuthorityLifetime, o.Propagation = 20*time.Minute, time.Hour, time.Minute
	for name, test := range map[string]struct {
		on, off     time.Duration // how long the cluster was on and then off
		authorities int           // in the bundle when the cluster went off
	}{
		"serving":   {0, 30 * time.Minute, 1},
		"authority": {0, 2 * time.Hour, 1},
		"serving, during a renewal of the authority": {40*time.Minute + 10*time.Second, 10 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var secret *corev1.Secret
			synctest.Test(t, func(t *testing.T) {
				client := newClient()
				start(t, client, o)
				time.Sleep(test.on)
				secret = stored(t, client)
				if known, err := cert.ParseCertsPEM(secret.Data["ca.crt"]); err != nil || len(known) != test.authorities {
					t.Errorf("%d authorities: %v", len(known), err)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(test.on + test.off)
				s, err := certificates.NewSecret(newClient(secret), o)
				if err != nil {
					t.Fatal(err)
				}
				go s.Run(t.Context())
				settle()
				if err := s.Check(); err == nil {
					t.Error("a replica with an expired certificate is ready")
				}
				lead(t, s)
				if err := s.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestMissingName has a Secret without one of the names of today.
func TestMissingName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := newClient()
		start(t, other, certificates.NewOptions(namespace, "another"))
		secret, err := other.CoreV1().Secrets(namespace).Get(t.Context(), "another-certificates", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		secret.Name = secretName
		client := newClient(secret)
		s, _ := start(t, client, certificates.NewOptions(namespace, service))
		mustServe(t, s, 0)
		if !bytes.Equal(s.CABundle(), secret.Data["ca.crt"]) {
			t.Error("the authority is another one")
		}
	})
}

// TestConflict has another leader renew certificates between the reading and the writing of this one.
func TestConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, o := newClient(), certificates.NewOptions(namespace, service)
		conflicts := 0
		client.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if conflicts++; conflicts > 1 {
				return false, nil, nil
			}
			other := newClient()
			start(t, other, o)
			secret := stored(t, other)
			secret.ResourceVersion = "other"
			if err := client.Tracker().Update(action.GetResource(), secret, namespace); err != nil {
				t.Error(err)
			}
			return false, nil, nil // the next reactor refuses the outdated version
		})
		s, _ := start(t, client, o)
		before := mustServe(t, s, 0)
		time.Sleep(o.ServingLifetime*2/3 + time.Minute)
		synctest.Wait()
		if after := mustServe(t, s, 0); after == before || stored(t, client).ResourceVersion != "other" {
			t.Errorf("the certificate of the other leader was replaced: %s", stored(t, client).ResourceVersion)
		}
		if conflicts != 1 {
			t.Errorf("%d updates, want one", conflicts)
		}
	})
}

// TestForbidden has the API server refuse everything for a while.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient()
		refused := 0
		client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if refused++; refused > 5 {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), secretName, errors.New("no permission"))
		})
		s, _ := start(t, client, certificates.NewOptions(namespace, service))
		time.Sleep(time.Minute)
		synctest.Wait()
		mustServe(t, s, 0)
		if refused != 6 {
			t.Errorf("%d attempts in a minute, want 6", refused)
		}
	})
}

func TestInvalidOptions(t *testing.T) {
	for name, change := range map[string]func(*certificates.Options){
		"no namespace":          func(o *certificates.Options) { o.Namespace = "" },
		"no service":            func(o *certificates.Options) { o.Service = "" },
		"no propagation":        func(o *certificates.Options) { o.Propagation = 0 },
		"long propagation":      func(o *certificates.Options) { o.ServingLifetime = 6 * o.Propagation },
		"short-lived authority": func(o *certificates.Options) { o.AuthorityLifetime = o.ServingLifetime - 1 },
	} {
		o := certificates.NewOptions(namespace, service)
		change(&o)
		if _, err := certificates.NewSecret(newClient(), o); err == nil {
			t.Errorf("%s: no error for %s", name, fmt.Sprintf("%+v", o))
		}
	}
}
