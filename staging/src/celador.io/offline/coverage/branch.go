// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

// A Branch is one result of a part of an expression.
type Branch struct {
	// Text is the part of the expression, such as object.spec.replicas <= 5.
	Text   string       `json:"text"`
	Result BranchResult `json:"outcome"`
	// Covered is set once an evaluation had the result. The result of an operand of && or ||
	// counts if it is decisive: if a && b is false because of b, the result of a is not.
	Covered bool `json:"covered"`
	// Missing says what would reach the branch, such as "object.spec.replicas was never 5".
	Missing string `json:"missing,omitempty"`
}

// A BranchResult is what an evaluation of a part of an expression can result in.
type BranchResult string

const (
	// True is a result of a condition: an expression or an operand of &&, || or ! that is of type
	// bool, the condition of a ternary or of a macro such as filter(), and a call such as a == b,
	// has() or all().
	True BranchResult = "true"
	// False is the other result of a condition.
	False BranchResult = "false"
	// Less is the result of a comparison with <, <=, > or >= whose left side is less than the right
	// one. Tests have to reach the values next to the limit: a <= 5 is true for 5, and the branch
	// Greater is covered only if a was 6. So if Less or Greater gives another value than Equal, the
	// sides, if they are integers, must differ by 1.
	Less BranchResult = "less"
	// Equal is the result of a comparison of equal values.
	Equal BranchResult = "equal"
	// Greater is the result of a comparison whose left side is greater than the right one.
	Greater BranchResult = "greater"
	// Present is the result of an optional with a value before or(), orValue(), optMap() or
	// optFlatMap().
	Present BranchResult = "present"
	// Absent is the result of an optional without a value before such a call.
	Absent BranchResult = "absent"
	// Evaluated is the result of an expression that is not a condition, and of the body of a macro
	// such as map().
	Evaluated BranchResult = "evaluated"
)

func newBranch(text string, result BranchResult) Branch {
	missing := " was never " + string(result)
	switch result {
	case Present:
		missing = " never had a value"
	case Absent:
		missing = " always had a value"
	}
	return Branch{Text: text, Result: result, Missing: text + missing}
}
