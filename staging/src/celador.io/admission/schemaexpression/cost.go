// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/checker"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// estimator returns Kubernetes' cost estimator with the sizes of the values in self.
func estimator(self *apiservercel.DeclType) checker.CostEstimator {
	return &library.CostEstimator{SizeEstimator: sizes{self}}
}

// sizes estimates the sizes of values by their types. It leaves the costs of calls to cel-go.
type sizes struct{ self *apiservercel.DeclType }

// EstimateSize implements checker.CostEstimator. The path of a node starts with the variable.
func (s sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	at := s.self
	for _, step := range path[1:] {
		if at = below(at, step); at == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Max: uint64(at.MaxElements)}
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

// EstimateCallCost implements checker.CostEstimator.
func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
