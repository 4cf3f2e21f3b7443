// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"crypto/sha256"
	"regexp"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/internal/limits"
)

// regex returns the compiled pattern. Programs that contain the same pattern share it.
func (l *Library) regex(pattern string) (*regexp.Regexp, error) {
	key := sha256.Sum256([]byte(pattern))
	if compiled := l.regexes.Find(key); compiled != nil {
		return compiled, nil
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	l.regexes.Add(key, compiled)
	return compiled, nil
}

// compiled returns an implementation of a call whose constant pattern is compiled, and the given
// implementation for all other calls. It returns an error for an invalid pattern, for which cel-go
// plans no program.
func (l *Library) compiled(function string, args []node, implementation *functions.Overload) (*functions.Overload, error) {
	pattern := l.Pattern(function)
	if pattern == nil || len(args) <= pattern.RegexIndex {
		return implementation, nil
	}
	text, ok := args[pattern.RegexIndex].constant.(types.String)
	if !ok {
		return implementation, nil
	}
	return limits.Compiled(interpreter.NewCall(0, function, "", nil, nil), len(args), pattern, string(text))
}

// Pattern implements limits.FunctionFinder: it returns the optimization that compiles a constant
// pattern of a function at planning time, or nil for functions without patterns. For 'matches',
// it shares the compiled patterns with the programs that were planned with the library.
func (l *Library) Pattern(function string) *interpreter.RegexOptimization {
	switch function {
	case overloads.Matches:
		return &interpreter.RegexOptimization{Function: function, RegexIndex: 1, Factory: l.matches}
	case library.FindRegexOptimization.Function:
		return library.FindRegexOptimization
	case library.FindAllRegexOptimization.Function:
		return library.FindAllRegexOptimization
	default:
		return nil
	}
}

// matches implements interpreter.RegexOptimization.Factory.
func (l *Library) matches(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
	compiled, err := l.regex(pattern)
	if err != nil {
		return nil, err
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
		text, ok := args[0].Value().(string)
		if !ok {
			return types.NoSuchOverloadErr()
		}
		return types.Bool(compiled.MatchString(text))
	}), nil
}
