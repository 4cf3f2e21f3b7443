// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/internal/reads"
)

// estimator returns Kubernetes' cost estimator with the sizes of the values in self and of the texts of scalars.
func (e *Environment) estimator(checked *cel.Ast) checker.CostEstimator {
	s := sizes{scope: &e.scope}
	if e.scope.MaxDynamicSize > 0 {
		s.dynamic, s.origins = e.scope.MaxDynamicSize, e.reads(checked, Self).Origins
	}
	return costs{&library.CostEstimator{SizeEstimator: s}}
}

// costs estimates calls that Kubernetes' estimator knows too little about.
type costs struct{ checker.CostEstimator }

// sizes estimates the sizes of values by their types.
type sizes struct {
	scope *Scope
	// dynamic is Scope.MaxDynamicSize. If it is 0, sizes are those that Kubernetes estimates.
	dynamic uint64
	// origins holds the origins of the values of all expressions by their IDs.
	origins map[int64]reads.Origin
}

// EstimateSize implements checker.CostEstimator. The path of a node starts with the variable.
func (s sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if s.dynamic > 0 && (len(path) == 0 || s.scope.declared(path[0]) == nil) {
		return s.estimateByOrigin(node)
	}
	if len(path) == 0 {
		return nil
	}
	at := s.scope.declared(path[0])
	if at == nil {
		at = s.scope.Self
	}
	for _, step := range path[1:] {
		next := below(at, step)
		if next == nil && s.dynamic > 0 && at.IsMap() {
			next = at.ElemType // Selected as a field, as in labels.app.
		}
		if at = next; at == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Max: uint64(at.MaxElements)}
}

// estimateByOrigin estimates the size of a value that cel-go has no path for, such as one behind an optional.
func (s sizes) estimateByOrigin(node checker.AstNode) *checker.SizeEstimate {
	switch node.Type().Kind() {
	case types.TypeKind:
		// Kubernetes' estimator takes values without a size for unlimited, also in type(self.size) == string.
		return &checker.SizeEstimate{Min: 1, Max: 1}
	case types.StringKind, types.BytesKind, types.ListKind, types.MapKind, types.DynKind:
	default:
		return nil
	}
	e := node.Expr()
	if e == nil {
		return &checker.SizeEstimate{Max: s.dynamic}
	}
	from := s.origins[e.ID()]
	if len(from.Parts) == 0 {
		// cel-go may know the sizes of the items of literals.
		if e.Kind() == ast.IdentKind && !from.Computed && node.Type().Kind() != types.DynKind {
			return nil
		}
		return &checker.SizeEstimate{Max: s.dynamic}
	}
	var size uint64
	for _, part := range from.Parts {
		size = max(size, s.partSize(part))
	}
	return &checker.SizeEstimate{Max: size}
}

// partSize returns the greatest size of a part of a variable.
func (s sizes) partSize(part []string) uint64 {
	at := s.scope.declared(part[0])
	for _, step := range part[1:] {
		if at.ElemType != nil {
			at = at.ElemType
		} else if field, ok := at.Fields[step]; ok {
			at = field.Type
		} else if at.CelType().Kind() != types.StringKind {
			return s.dynamic
		}
		// A part of a text, such as split returns, is no longer than the text.
	}
	return uint64(max(at.MaxElements, 0))
}

// below returns the type of the elements, keys or field that a step of a path leads to, or nil if there is none.
func below(t *apiservercel.DeclType, step string) *apiservercel.DeclType {
	switch step {
	case "@items", "@values":
		return t.ElemType
	case "@keys":
		return t.KeyType
	}
	if field, ok := t.Fields[step]; ok {
		return field.Type
	}
	return nil
}

// EstimateCallCost implements checker.CostEstimator. It leaves the costs of calls to costs.
func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// EstimateCallCost implements checker.CostEstimator. For Kubernetes' estimator, the text of a number has any length, so that
// string(self.seconds) + 's' exceeds every limit.
func (c costs) EstimateCallCost(function, overload string, target *checker.AstNode, arguments []checker.AstNode) *checker.CallEstimate {
	if function == overloads.TypeConvertString && target == nil && len(arguments) == 1 {
		if length, ok := textLengths[arguments[0].Type().Kind()]; ok {
			return &checker.CallEstimate{
				CostEstimate: checker.FixedCostEstimate(1),
				ResultSize:   &checker.SizeEstimate{Min: 1, Max: length},
			}
		}
	}
	return c.CostEstimator.EstimateCallCost(function, overload, target, arguments)
}

// textLengths holds the lengths of the longest texts of values by the kind of their type.
var textLengths = map[types.Kind]uint64{
	types.BoolKind:      uint64(len("false")),
	types.IntKind:       uint64(len("-9223372036854775808")),
	types.UintKind:      uint64(len("18446744073709551615")),
	types.DoubleKind:    uint64(len("-1.7976931348623157e+308")),
	types.DurationKind:  uint64(len("-315576000000.999999999s")),
	types.TimestampKind: uint64(len("9999-12-31T23:59:59.999999999+23:59")),
}
