// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"

	"github.com/google/cel-go/common/ast"

	"celador.io/admission/cel/reads"
)

// paramReads returns what an expression reads of 'params', directly or through the variables of a
// policy. The first step of a path is the name of the variable.
func paramReads(checked ast.Expr) []reads.Read {
	return reads.Of(checked, map[string][]string{Params: {Params}, Variables: {Variables}}, nil).Reads
}

// ParamReads returns the parts of 'params' that the results of programs depend on, together with
// the variables that the programs read. It may return more, but not less. Paths begin at the param.
// A nil program reads nothing.
func ParamReads(variables []Variable, programs ...*Program) []reads.Read {
	c := paramReadCollector{variables: variables, added: make([]bool, len(variables))}
	for _, p := range programs {
		c.add(p)
	}
	return c.reads
}

type paramReadCollector struct {
	variables []Variable
	// added has an entry for each variable.
	added []bool
	reads []reads.Read
}

func (c *paramReadCollector) add(p *Program) {
	if p == nil {
		return
	}
	for _, read := range p.paramReads {
		root, path := read.Path[0], read.Path[1:]
		switch {
		case root == Params:
			c.reads = append(c.reads, reads.Read{Path: path, Whole: read.Whole})
		case len(path) == 0 || path[0] == reads.Entry:
			c.addVariables(func(string) bool { return true })
		default:
			// cel-go unescapes field names that contain two underscores.
			c.addVariables(func(name string) bool { return name == path[0] || strings.Contains(path[0], "__") })
		}
	}
}

// addVariables adds the reads of the variables whose names satisfy read.
func (c *paramReadCollector) addVariables(read func(name string) bool) {
	for i := range c.variables {
		if v := &c.variables[i]; !c.added[i] && read(v.Name) {
			c.added[i] = true
			c.add(v.Program)
		}
	}
}
