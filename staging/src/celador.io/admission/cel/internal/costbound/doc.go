// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package costbound bounds what an expression costs for an object of a given size.
//
// Kubernetes' estimates multiply the sizes of everything that an expression loops over. This is too
// much for schemas without limits: all items of all lists in a list together are no more than the
// object has, however they are distributed. Package costbound counts them together:
//
//	self.groups.map(g, g.members.map(m, m.name))
//
// costs a constant for each group and each member of the object, and
//
//	self.groups.map(g, self.members.filter(m, m.group == g.name))
//
// a constant for each pair of a group and a member.
//
// A loop over the indices of a list, such as those of lists.range(size(self.groups)), has as many
// iterations as the list has entries, and reads one entry in each: self.groups[i] for an index i.
//
// A dimension is a set of entries or characters in the object, such as the members of all groups. A
// value has a size, a sum of products of dimensions, and so has the number of evaluations of a
// subexpression. The costs are those of cel-go and Kubernetes at run time.
package costbound
