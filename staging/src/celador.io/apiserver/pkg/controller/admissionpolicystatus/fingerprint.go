// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import "crypto/sha256"

// A fingerprint is a hash of the spec of a policy. Equal generations do not mean equal specs: a
// server of Kubernetes that shares etcd drops Celador's fields with any write, and leaves the
// generation as it is. A report keeps this hash and not the spec itself, because the spec would
// keep an object in memory that the informer has replaced.
type fingerprint [sha256.Size]byte

// fingerprint returns the fingerprint of the policy's spec.
func (p *policy) fingerprint() fingerprint {
	wire, err := p.spec.Marshal()
	if err != nil {
		wire = []byte(p.ResourceVersion) // every version of the object counts as another spec
	}
	return sha256.Sum256(wire)
}
