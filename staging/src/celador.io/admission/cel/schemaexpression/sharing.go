// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/internal/syntax"
)

// digests identify the types of a scope. Expressions of scopes with equal digests can share
// programs.
type digests struct {
	// structure is the digest of everything but the names of object types, which few expressions
	// depend on.
	structure programs.Digest
	// names is the digest of the names of object types.
	names programs.Digest
}

func digestTypes(self *apiservercel.DeclType) digests {
	structure, names := programs.NewDigester(), programs.NewDigester()
	digestType(self, structure, names)
	return digests{structure.Digest(), names.Digest()}
}

func digestType(t *apiservercel.DeclType, structure, names programs.Digester) {
	structure.Number(int(t.MaxElements))
	switch {
	case t.IsObject():
		names.Text(t.TypeName())
		structure.Text("object")
		structure.Flag(LeavesOpen(t))
		structure.Number(len(t.Fields))
		for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
			structure.Text(name)
			digestType(t.Fields[name].Type, structure, names)
		}
	case t.IsMap():
		structure.Text("map")
		digestType(t.KeyType, structure, names)
		digestType(t.ElemType, structure, names)
	case t.IsList():
		structure.Text("list")
		digestType(t.ElemType, structure, names)
	default:
		structure.Type(t.CelType())
	}
}

// key returns the digest of everything that a program depends on, except for the names of object
// types. It returns false for scopes whose programs are not shared: those with a cost limit, and
// those with constructors or variables, which cannot be compared.
func (e *Environment) key(source string) (programs.Digest, bool) {
	if e.scope.Types != nil || e.scope.Shared != nil || len(e.scope.Others) > 0 || e.scope.CostLimit > 0 {
		return programs.Digest{}, false
	}
	d := programs.NewDigester()
	structure := e.digests().structure
	d.Write(structure[:])
	d.Number(int(e.scope.OldSelf))
	d.Flag(e.scope.NullResults)
	d.Text(string(e.origin))
	d.Text(source)
	return d.Digest(), true
}

// isNamed reports whether a checked expression or its result depends on the names of object types.
func isNamed(checked *ast.AST) bool {
	return holdsObject(checked.GetType(checked.Expr().ID())) || syntax.Contains(checked.Expr(), func(e ast.Expr) bool {
		t := checked.GetType(e.ID())
		_, isName := checked.ReferenceMap()[e.ID()]
		return e.Kind() == ast.StructKind || isName && t.Kind() == types.TypeKind && holdsObject(t)
	})
}

// holdsObject reports whether a type is or contains an object type.
func holdsObject(t *types.Type) bool {
	return t.Kind() == types.StructKind || slices.ContainsFunc(t.Parameters(), holdsObject)
}
