// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A Secret is a Provider whose certificates are in the Secret <service>-certificates, where the
// leader makes them. Each replica serves the last usable content of the Secret.
type Secret struct {
	listeners
	options  Options
	client   corev1client.SecretInterface
	informer cache.SharedIndexInformer
	current  atomic.Pointer[followed]
}

// NewSecret returns a Provider of the Secret's certificates, or an error if the options are
// invalid. The client needs the permissions to get, list, watch and update the Secret by its name,
// and to create Secrets.
func NewSecret(client kubernetes.Interface, o Options) (*Secret, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Secret{
		options: o,
		client:  client.CoreV1().Secrets(o.Namespace),
		informer: coreinformers.NewFilteredSecretInformer(client, o.Namespace, 0, nil, func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, o.secretName()).String()
		}),
	}
	return s, nil
}

// Run implements Provider.
func (s *Secret) Run(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("secret", klog.KRef(s.options.Namespace, s.options.secretName()))
	_, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.follow(logger, obj.(*corev1.Secret)) },
		UpdateFunc: func(_, obj any) { s.follow(logger, obj.(*corev1.Secret)) },
		DeleteFunc: func(any) { logger.Info("The Secret of the certificates was deleted, this replica serves the last one") },
	})
	if err != nil { // the informer has ended
		logger.Error(err, "This replica does not follow its certificates")
		return
	}
	s.informer.RunWithContext(ctx)
}

// follow takes the content over, if it is usable.
func (s *Secret) follow(logger klog.Logger, secret *corev1.Secret) {
	c, err := parse(secret.Data)
	if err != nil {
		logger.Error(err, "The Secret of the certificates is damaged, this replica serves the last one")
		return
	}
	previous := s.current.Load()
	if previous != nil && previous.equal(c) {
		return
	}
	s.current.Store(&followed{content: c, since: time.Now()})
	logger.Info("Serving with another certificate or CA bundle", "serial", c.serving.Leaf.SerialNumber.Text(16), "notAfter", c.serving.Leaf.NotAfter, "authorities", len(c.authorities))
	s.notify()
}

var errNoCertificate = errors.New("there is no serving certificate yet")

// GetCertificate implements Provider.
func (s *Secret) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if f := s.current.Load(); f != nil {
		return f.serving, nil
	}
	return nil, errNoCertificate
}

// CABundle implements Provider.
func (s *Secret) CABundle() []byte {
	if f := s.current.Load(); f != nil {
		return f.data[bundleKey]
	}
	return nil
}

// Check implements Provider.
func (s *Secret) Check() error {
	f := s.current.Load()
	if f == nil {
		return fmt.Errorf("%w: the leader has not yet made the Secret %s, or it is damaged", errNoCertificate, s.options.secretName())
	}
	return check(f.serving, f.data[bundleKey], serverName(s.options.Namespace, s.options.Service))
}

// Rotate makes the Secret, renews its certificates and repairs it until ctx ends. The leader calls
// it while Run runs. If two replicas call it at a time, the Secret stays consistent.
//
// registered returns since when the webhook configurations have had a CA bundle, and an error if
// they do not have it. No certificate is signed by a new authority before they have had it for the
// propagation time.
func (s *Secret) Rotate(ctx context.Context, registered Registered) {
	logger := klog.FromContext(ctx).WithValues("secret", klog.KRef(s.options.Namespace, s.options.secretName()))
	changed := make(chan struct{}, 1)
	signal := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	registration, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { signal() }, UpdateFunc: func(any, any) { signal() }, DeleteFunc: func(any) { signal() },
	})
	if err != nil { // the informer has ended
		return
	}
	defer func() { _ = s.informer.RemoveEventHandler(registration) }()
	// A damaged Secret is replaced by the content that this replica follows, so it must have seen it.
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return
	}
	retry := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: 10, Cap: time.Minute}
	for backoff := retry; ; {
		after, err := s.rotate(ctx, logger, registered)
		switch {
		case err == nil:
			backoff = retry
		case ctx.Err() != nil:
			return
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
			logger.Info("Another client wrote the Secret of the certificates at the same time, reading it again", "reason", err.Error())
			after = backoff.Step()
		default:
			logger.Error(err, "Cannot renew certificates")
			after = backoff.Step()
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-time.After(after):
		}
	}
}

// rotate writes the Secret if a step of a renewal or a repair is due. It returns the time after
// which it must be called again if the Secret does not change.
func (s *Secret) rotate(ctx context.Context, logger klog.Logger, registered Registered) (time.Duration, error) {
	secret, err := s.client.Get(ctx, s.options.secretName(), metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	if missing {
		// API servers refuse changes of a Secret of this type that remove a key.
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: s.options.secretName()}, Type: corev1.SecretTypeTLS}
	} else if err != nil {
		return 0, err
	}
	due, err := s.due(secret.Data, time.Now(), logger, registered)
	if err != nil || due.content == nil {
		return due.wait, err
	}
	logger.Info("Writing certificates", "reason", due.reason)
	secret.Data = due.content.data
	if missing {
		_, err = s.client.Create(ctx, secret, metav1.CreateOptions{})
	} else {
		_, err = s.client.Update(ctx, secret, metav1.UpdateOptions{})
	}
	return s.options.Propagation, err
}

// due returns the step that is due when the Secret has the data.
func (s *Secret) due(data map[string][]byte, now time.Time, logger klog.Logger, registered Registered) (step, error) {
	last := s.current.Load()
	c, err := parse(data)
	switch {
	case err == nil:
		return s.options.next(c, func() *followed { return last.published(logger, registered) }, now)
	case last != nil:
		// API servers trust the authority of the last content, and not yet another one.
		return step{content: last.content, reason: "The Secret is missing or damaged, and this replica has its last content: " + err.Error()}, nil
	}
	reason := "The Secret is missing or damaged: " + err.Error()
	c, err = newContent(&s.options, now)
	return step{content: c, reason: reason}, err
}
