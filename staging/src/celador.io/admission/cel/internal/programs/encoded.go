// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
)

// Encoded returns a Later that keeps a checked expression in encoded form, which takes a fraction
// of the memory of the expression itself: 1,000 policies take 20 MiB instead of 29. The Later
// returns env for cel-go to plan the expression. Planning does not use the types of variables, so
// env need not be the environment that checked the expression: it may declare variables with other
// types. Encoded returns an error if the expression cannot be encoded.
func Encoded(env *cel.Env, checked *cel.Ast) (Later, error) {
	encoded, err := encode(checked.NativeRep())
	if err != nil {
		return nil, err
	}
	return func() (*cel.Env, *ast.AST, error) {
		decoded, err := decode(encoded)
		return env, decoded, err
	}, nil
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
