// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/evaluator"
	"celador.io/admission/limits"
)

// interpreted is the program of cel-go for an expression. Most expressions never need it, and
// it takes several times the memory of everything else that belongs to them. So it is
// made when the first evaluation needs it. Safe for concurrent use.
type interpreted struct {
	made atomic.Pointer[cel.Program]
	// What follows is what a program is made of. It is not set if there is one already.
	env     *cel.Env
	library *evaluator.Library
	// checked is the encoded expression, which takes a fraction of the memory of the tree.
	checked []byte
}

// program returns the same program at all times. The error is one that make has.
func (i *interpreted) program() (cel.Program, error) {
	if made := i.made.Load(); made != nil {
		return *made, nil
	}
	checked, err := decode(i.checked)
	if err != nil {
		return nil, err
	}
	// Evaluations at the same time may each make one, rather than wait for each other.
	made, err := instantiate(i.env, checked, i.library)
	if err == nil {
		i.made.Store(&made)
	}
	return made, err
}

// postpone keeps what a program is made of. It returns false if that is not possible.
func (i *interpreted) postpone(env *cel.Env, checked *ast.AST, library *evaluator.Library) bool {
	encoded, err := encode(checked)
	if err != nil {
		return false
	}
	i.env, i.checked, i.library = env, encoded, library
	return true
}

// instantiate plans an expression for cel-go, which panics for the same reason as plan does.
func instantiate(env *cel.Env, checked *ast.AST, library *evaluator.Library) (program cel.Program, err error) {
	defer rescue(&err)
	return env.PlanProgram(checked, cel.InterruptCheckFrequency(celconfig.CheckFrequency), cel.CustomDecoratorV2(limits.Decorator(checked, library)))
}

// rescue, deferred, has a panic returned as an error.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}

// encode returns what instantiate needs of a checked expression: the tree and what its names
// refer to. Positions in the source are not part of it, nor are types, except for names of
// types and for objects, whose fields cel-go may read in other ways than those of maps.
func encode(checked *ast.AST) ([]byte, error) {
	kept := map[int64]*types.Type{}
	for id, t := range checked.TypeMap() {
		switch t.Kind() {
		case types.TypeKind:
			kept[id] = types.TypeType
		case types.StructKind:
			kept[id] = t
		}
	}
	info := ast.NewSourceInfo(nil)
	for _, extension := range checked.SourceInfo().Extensions() {
		info.AddExtension(extension)
	}
	message, err := ast.ToProto(ast.NewCheckedAST(ast.NewAST(checked.Expr(), info), kept, checked.ReferenceMap()))
	if err != nil {
		return nil, err
	}
	return proto.Marshal(message)
}

func decode(encoded []byte) (*ast.AST, error) {
	message := &exprpb.CheckedExpr{}
	if err := proto.Unmarshal(encoded, message); err != nil {
		return nil, err
	}
	return ast.ToAST(message)
}
