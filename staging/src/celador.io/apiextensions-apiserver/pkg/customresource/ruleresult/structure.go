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

// A structure is the digest of a type, by which types with the same fields are found. It depends on
// the names and the types of the fields, all the way down, and not on limits, required fields and
// descriptions.
type structure [sha256.Size]byte

// structureOf returns the structure of a type.
func structureOf(t *apiservercel.DeclType) structure {
	digest := sha256.New()
	switch {
	case t.IsObject():
		// The metadata tells objects that may have undeclared fields from others.
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

// NameTypes returns a type for expressions to read, in which all object types have names. A name is
// the path of an object below root, as apiservercel.DeclType.MaybeAssignTypeName assigns it.
// Objects with the same fields get the same name, that of the first of them; outer objects come
// before inner ones. cel-go compares object types by name, so values from several places of an
// object can then be branches of a conditional or items of a list.
func NameTypes(t *apiservercel.DeclType, root string) *apiservercel.DeclType {
	n := namer{}
	return n.named(t, root)
}

// A namer holds the names that it has given, by the structures of the objects.
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

// ReadFrom returns the types for rules that read self. In them, an object type that rules construct
// has the name of the type in self with the same fields, if there is one. cel-go compares object
// types by name, so a list can then hold objects of both origins, and expressions read static types
// from both.
//
// Only where a rule sets fields, in a constructor, do these still have dynamic type. cel-go looks
// them up there by the name of the constructed type, which is the nullable form of the type in self
// and has another name.
func (t *ObjectTypes) ReadFrom(self *apiservercel.DeclType) *ObjectTypes {
	read := map[structure]string{}
	for _, declared := range apiservercel.FieldTypeMap(self.TypeName(), self) {
		if declared.IsObject() {
			read[structureOf(declared)] = declared.TypeName()
		}
	}
	shared := &ObjectTypes{byName: maps.Clone(t.byName)}
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
