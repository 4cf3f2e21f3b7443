// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// A Compiled expression is a program or a compilation error. Policies with expressions that do not
// compile can be stored; the error then applies to each request that evaluates the expression. The
// zero value stands for an optional expression that is not set.
type Compiled struct {
	Program *Program
	Err     *apiservercel.Error
}

// Absent reports whether the expression is not set.
func (c *Compiled) Absent() bool { return c.Program == nil && c.Err == nil }

// Evaluate evaluates the program as Program.Evaluate does. If the expression does not compile, it
// returns the compilation error. It must not be called if Absent returns true.
func (c *Compiled) Evaluate(s *Series) (ref.Val, error) {
	if c.Err != nil {
		return nil, &apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: fmt.Sprintf("compilation error: %v", c.Err),
			// c.Err wraps ErrCompilation only if cel-go reported issues.
			Cause: errors.Join(apiservercel.ErrCompilation, c.Err),
		}
	}
	return c.Program.Evaluate(s)
}
