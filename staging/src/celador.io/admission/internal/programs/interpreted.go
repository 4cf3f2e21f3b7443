// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/internal/evaluator"
	"celador.io/admission/internal/limits"
)

// An interpreted expression plans its cel-go program on first use. Most expressions never need the
// program, which takes several times the memory of the rest of the expression. It is safe for
// concurrent use.
type interpreted struct {
	planned atomic.Pointer[cel.Program]
	// env, library and checked are set by postpone, for program to plan from.
	env     Env
	library *evaluator.Library
	// checked is the encoded AST, which takes a fraction of the memory of the AST itself.
	checked []byte
}

// program returns the cel-go program. It plans the program on the first call, and returns the
// error of decoding or planning.
func (i *interpreted) program() (cel.Program, error) {
	if planned := i.planned.Load(); planned != nil {
		return *planned, nil
	}
	checked, err := decode(i.checked)
	if err != nil {
		return nil, err
	}
	// Concurrent first evaluations may each plan a program, rather than wait for each other.
	env, err := i.env()
	if err != nil {
		return nil, err
	}
	planned, err := instantiate(env, checked, i.library)
	if err == nil {
		i.planned.Store(&planned)
	}
	return planned, err
}

// postpone stores what program needs to plan later. It returns false if the AST cannot be encoded.
func (i *interpreted) postpone(env Env, checked *ast.AST, library *evaluator.Library) bool {
	encoded, err := encode(checked)
	if err != nil {
		return false
	}
	i.env, i.checked, i.library = env, encoded, library
	return true
}

// instantiate plans the cel-go program of a checked expression. It turns a panic of the planner
// into an error, as plan does.
func instantiate(env *cel.Env, checked *ast.AST, library *evaluator.Library) (program cel.Program, err error) {
	defer rescue(&err)
	return env.PlanProgram(checked, cel.InterruptCheckFrequency(celconfig.CheckFrequency), cel.CustomDecoratorV2(limits.Decorator(checked, library)))
}

// rescue, when deferred, turns a panic into an error.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}

// encode encodes the parts of a checked AST that instantiate needs: the tree, its references, and
// the types of type names and objects. cel-go needs the latter because it reads fields of objects
// and entries of maps in different ways. encode leaves out source positions and all other types.
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
