// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// A structure is the digest of a type as expressions see it: the names and the types of its fields,
// all the way down. Limits, required fields and descriptions make no difference.
type structure [sha256.Size]byte

// structureOf returns the structure of a type.
func structureOf(t *apiservercel.DeclType) structure {
	digest := sha256.New()
	switch {
	case t.IsObject():
		// Metadata marks objects with fields that the type does not declare.
		fmt.Fprintf(digest, "object %q %d", fmt.Sprint(t.Metadata), len(t.Fields))
		for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
			fmt.Fprintf(digest, " %q %x", name, structureOf(t.Fields[name].Type))
		}
	case t.IsMap():
		fmt.Fprintf(digest, "map %x %x", structureOf(t.KeyType), structureOf(t.ElemType))
	case t.IsList():
		fmt.Fprintf(digest, "list %x", structureOf(t.ElemType))
	default:
		fmt.Fprintf(digest, "scalar %s", t.CelType())
	}
	return structure(digest.Sum(nil))
}

// NameTypes returns a type that expressions read, with names for the object types in it. A name is
// the path of an object below root, as apiservercel.DeclType.MaybeAssignTypeName assigns it, but
// objects with the same fields have the same name: that of the first of them, with outer objects
// before inner ones. cel-go compares the types of objects by their names, so values from several
// places of an object can be the branches of a conditional and items of a list.
func NameTypes(t *apiservercel.DeclType, root string) *apiservercel.DeclType {
	n := namer{}
	return n.named(t, root)
}

// A namer holds the names of the objects that it has seen by their structures.
type namer map[structure]string

func (n namer) named(t *apiservercel.DeclType, path string) *apiservercel.DeclType {
	switch {
	case t.IsObject():
		structure := structureOf(t)
		if _, seen := n[structure]; !seen {
			n[structure] = path
		}
		fields := make(map[string]*apiservercel.DeclField, len(t.Fields))
		for _, field := range slices.Sorted(maps.Keys(t.Fields)) {
			declared := t.Fields[field]
			fields[field] = apiservercel.NewDeclField(declared.Name, n.named(declared.Type, path+"."+field), declared.Required, nil, nil)
		}
		object := apiservercel.NewObjectType(n[structure], fields)
		object.MinSerializedSize, object.Metadata = t.MinSerializedSize, t.Metadata
		return object
	case t.IsMap():
		return apiservercel.NewMapType(t.KeyType, n.named(t.ElemType, path+".@elem"), t.MaxElements)
	case t.IsList():
		return apiservercel.NewListType(n.named(t.ElemType, path+".@idx"), t.MaxElements)
	default:
		return t
	}
}

// ReadFrom returns the types for rules that read self. An object that a rule constructs has the
// type of the objects in self that have the same fields, so that a list can hold both, and the
// fields of both have static types.
//
// The fields of constructors keep their dynamic types. Constructed objects have nullable types for
// that, because cel-go looks the fields of a constructor up by the name that it declares for its
// type, which is another one for nullable types.
func (t *Types) ReadFrom(self *apiservercel.DeclType) *Types {
	read := map[structure]string{}
	for _, declared := range apiservercel.FieldTypeMap(self.TypeName(), self) {
		if declared.IsObject() {
			read[structureOf(declared)] = declared.TypeName()
		}
	}
	shared := &Types{byName: maps.Clone(t.byName)}
	for name, constructed := range t.byName {
		source, ok := read[constructed.structure]
		if !ok || !constructed.comparable {
			continue
		}
		object := *constructed
		object.celType = types.NewNullableType(types.NewObjectType(source))
		shared.byName[name] = &object
		shared.byName[object.celType.DeclaredTypeName()] = &object
	}
	return shared
}
