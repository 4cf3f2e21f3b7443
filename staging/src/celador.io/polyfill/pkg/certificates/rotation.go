// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// Registered returns since when the webhook configurations have had a CA bundle, as far as this
// process knows, and an error if they do not have it. It must be safe for concurrent use.
type Registered func(bundle []byte) (since time.Time, err error)

// followed is the content that a process follows.
type followed struct {
	*content
	// since is when this process saw the content first. The times in its certificates do not tell
	// how long they have been published, because another leader may have set them by another clock.
	since time.Time
}

// published returns the content, with since as the time from which both the Secret and the webhook
// configurations have had it, because both must have had it for the propagation time. It returns
// nil if f is nil, or if the configurations do not have the CA bundle of the content.
func (f *followed) published(logger klog.Logger, registered Registered) *followed {
	if f == nil {
		return nil
	}
	since, err := registered(f.data[bundleKey])
	if err != nil {
		logger.Info("A renewal of the certificate authority waits for the webhook configurations", "reason", err.Error())
		return nil
	}
	if f.since.After(since) {
		return f
	}
	return &followed{f.content, since}
}

// wait returns how long the leader waits before it checks again whether the Secret and the webhook
// configurations have had the content for the propagation time. The result is zero or less if they
// have. See followed.published for the result of published.
func (c *content) wait(published func() *followed, o *Options, now time.Time) time.Duration {
	left := o.Propagation
	if f := published(); f != nil && f.equal(c) {
		left = f.since.Add(o.Propagation).Sub(now)
	}
	return min(left, o.Propagation/10)
}

// A step is what the leader does with the content of the Secret.
type step struct {
	content *content      // to write, or nil
	reason  string        // for the log, if there is content to write
	wait    time.Duration // after which the leader must look again, if there is nothing to write
}

// next returns the step that is due. It calls published (see followed.published) only for a step
// that must wait until the previous one is known everywhere. A renewal of the authority is three
// steps: add the new authority to the bundle; when all API servers know it, sign a serving
// certificate with it; when all replicas serve this certificate, remove the old authority.
func (o *Options) next(c *content, published func() *followed, now time.Time) (step, error) {
	authority, serving := c.authorities[0], c.serving.Leaf
	lacksName := slices.ContainsFunc(o.dnsNames(), func(name string) bool { return !slices.Contains(serving.DNSNames, name) })
	var s step
	var renew func(*Options, time.Time) (*content, error)
	switch {
	case now.After(authority.NotAfter):
		s.reason, renew = "The certificate authority has expired", newContent
	case now.After(serving.NotAfter):
		s.reason, renew = "The serving certificate has expired", c.withServing
	case !c.signedBy(authority):
		if s.wait = c.wait(published, o, now); s.wait <= 0 {
			s.reason, renew = "API servers know the new certificate authority", c.withServing
		}
	case len(c.authorities) > 1:
		if s.wait = c.wait(published, o, now); s.wait <= 0 {
			s.reason, renew = "No replica serves a certificate of the old certificate authority", c.withoutOldAuthorities
		}
	case !now.Before(renewal(authority)):
		s.reason, renew = "The certificate authority is due for renewal", c.withAuthority
	case lacksName:
		s.reason, renew = "The serving certificate lacks a name of the Service", c.withServing
	case !now.Before(renewal(serving)):
		s.reason, renew = "The serving certificate is due for renewal", c.withServing
	default:
		s.wait = min(renewal(authority).Sub(now), renewal(serving).Sub(now))
	}
	if renew == nil {
		return s, nil
	}
	var err error
	s.content, err = renew(o, now)
	return s, err
}

// renewal returns when two thirds of the lifetime are over, which begins backdate after NotBefore.
func renewal(certificate *x509.Certificate) time.Time {
	return certificate.NotAfter.Add(-certificate.NotAfter.Sub(certificate.NotBefore.Add(backdate)) / 3)
}
