// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

// A Branch is one outcome of a part of an expression.
type Branch struct {
	// Text is the part of the expression, such as object.spec.replicas <= 5.
	Text    string        `json:"text"`
	Outcome BranchOutcome `json:"outcome"`
	// Covered is set once an evaluation had the outcome. The outcome of an operand of && or ||
	// counts if it is decisive: if a && b is false because of b, the outcome of a is not.
	Covered bool `json:"covered"`
	// Missing says what would reach the branch, such as "object.spec.replicas was never 5".
	Missing string `json:"missing,omitempty"`
}

// A BranchOutcome is what an evaluation of a part of an expression can result in.
type BranchOutcome string

const (
	// True and False are the outcomes of a condition: an expression or an operand of &&, || or !
	// that is of type bool, the condition of a ternary or of a macro such as filter(), and a call
	// such as a == b, has() or all().
	True  BranchOutcome = "true"
	False BranchOutcome = "false"
	// Less, Equal and Greater are the outcomes of a comparison with <, <=, > or >=, by the left
	// side. Beside the limit, integers must differ by 1: a <= 5 is true up to 5, so Greater is
	// covered by 6, and not by 9.
	Less    BranchOutcome = "less"
	Equal   BranchOutcome = "equal"
	Greater BranchOutcome = "greater"
	// Present and Absent are the outcomes of an optional value before or(), orValue(), optMap() or
	// optFlatMap().
	Present BranchOutcome = "present"
	Absent  BranchOutcome = "absent"
	// Evaluated is the outcome of an expression that is not a condition, and of the body of a macro
	// such as map().
	Evaluated BranchOutcome = "evaluated"
)

func newBranch(text string, outcome BranchOutcome) Branch {
	missing := " was never " + string(outcome)
	switch outcome {
	case Present:
		missing = " never had a value"
	case Absent:
		missing = " always had a value"
	}
	return Branch{Text: text, Outcome: outcome, Missing: text + missing}
}
