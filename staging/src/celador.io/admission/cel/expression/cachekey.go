// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"crypto/sha256"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/internal/programs"
)

// newCacheKey returns the digest of everything that a program depends on, so that equal expressions
// share one program. scope is the digest of the variables of the policy that are declared.
func newCacheKey(scope programs.Digest, source string, in Declarations, origin environment.Type, returns []*cel.Type) programs.Digest {
	d := programs.NewDigester()
	d.Write(scope[:])
	d.Text(source)
	d.Flag(in.Params)
	d.Flag(in.Authorizer)
	d.Flag(in.Patches)
	d.Flag(in.Lookups)
	d.Flag(in.Self)
	d.Flag(in.Item)
	d.Text(string(origin))
	for _, t := range returns {
		d.Type(t)
	}
	return d.Digest()
}

// noVariables is the digest of the scope of a policy without variables. A compiler that does not
// declare 'variables' has the zero digest.
var noVariables = programs.Digest(sha256.Sum256([]byte(Variables)))

// extended returns the digest of a scope with one more variable.
func extended(scope programs.Digest, name string, t *cel.Type) programs.Digest {
	d := programs.NewDigester()
	d.Write(scope[:])
	d.Text(name)
	d.Type(t)
	return d.Digest()
}
