// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"k8s.io/apimachinery/pkg/util/sets"
)

// standardCost holds the functions whose cost cel-go defines itself. The cost of other functions
// comes from Kubernetes' estimator.
var standardCost = sets.New(
	operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo,
	operators.Negate, operators.LogicalNot, operators.NotStrictlyFalse, operators.In,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	overloads.Size, overloads.Contains, overloads.StartsWith, overloads.EndsWith, overloads.Matches,
	overloads.TypeConvertBool, overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble,
	overloads.TypeConvertString, overloads.TypeConvertBytes, overloads.TypeConvertDuration, overloads.TypeConvertTimestamp,
	overloads.TypeConvertType, overloads.TypeConvertDyn,
)

// supported holds the functions whose costs the evaluator knows. It leaves out functions whose
// library does not export its cost tracker, such as sets and most of lists, and functions other
// than matches whose constant patterns cel-go compiles at planning time.
var supported = standardCost.Union(sets.New(
	operators.LogicalAnd, operators.LogicalOr, operators.Conditional, operators.Equals, operators.NotEquals,

	"optional.of", "optional.ofNonZeroValue", "optional.none", "value", "hasValue", "or", "orValue",
	"cel.@mapInsert", // of transformMap and transformMapEntry

	overloads.TimeGetFullYear, overloads.TimeGetMonth, overloads.TimeGetDate, overloads.TimeGetDayOfMonth,
	overloads.TimeGetDayOfWeek, overloads.TimeGetDayOfYear, overloads.TimeGetHours, overloads.TimeGetMinutes,
	overloads.TimeGetSeconds, overloads.TimeGetMilliseconds,

	"charAt", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii", "format",

	"isSorted", "sum", "max", "min", "includes",
	"url", "isURL", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery",
	"quantity", "isQuantity", "sign", "isInteger", "asInteger", "asApproximateFloat", "isGreaterThan", "isLessThan",
	"compareTo", "add", "sub",
	"semver", "isSemver", "major", "minor", "patch",
	"ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast",
	"isGlobalUnicast", "cidr", "isCIDR", "containsIP", "containsCIDR", "masked", "prefixLength",
	"path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "fieldSelector",
	"labelSelector", "allowed", "reason", "error", "errored",
))
