// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Compiled is a program or the reason why there is none: stored expressions that do not
// compile are kept, for requests to run into. With neither, the expression is absent.
type Compiled struct {
	Program *Program
	Err     *apiservercel.Error
}

// Absent says whether there is no expression.
func (c *Compiled) Absent() bool { return c.Program == nil && c.Err == nil }

// Evaluate is Program.Evaluate if there is a program, and otherwise returns the reason
// why there is none. It must not be called for an absent expression.
func (c *Compiled) Evaluate(s *Series) (ref.Val, error) {
	if c.Err != nil {
		return nil, &apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: fmt.Sprintf("compilation error: %v", c.Err),
			Cause:  c.Err,
		}
	}
	return c.Program.Evaluate(s)
}
