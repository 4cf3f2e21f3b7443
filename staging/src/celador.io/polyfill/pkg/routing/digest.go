// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
)

// digest identifies which policies of one kind are on which routes. The zero value is the digest of
// no policies.
type digest [sha256.Size]byte

// toggle adds a policy on a route, or removes it if it is there.
func (d *digest) toggle(policy string, r Route) {
	one := sha256.Sum256([]byte(policy + "\x00" + r.Name))
	subtle.XORBytes(d[:], d[:], one[:])
}

func (d *digest) String() string { return hex.EncodeToString(d[:16]) }

// Digest returns a text that is equal for two sets of objects if the same policies of the kind are
// on the same routes. A Table compares it with its own: see Table.SetRegistered.
func (o *Objects) Digest(kind Kind) string {
	var d digest
	if kind == Mutating {
		for _, p := range o.Mutating {
			d.toggle(p.Name, MutatingRoute(p))
		}
	} else {
		for _, p := range o.Validating {
			d.toggle(p.Name, ValidatingRoute(p))
		}
	}
	return d.String()
}
