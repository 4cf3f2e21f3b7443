// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"k8s.io/apimachinery/pkg/util/sets"
)

// standardCost holds the functions whose cost cel-go defines itself.
var standardCost = sets.New(
	operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo,
	operators.Negate, operators.LogicalNot, operators.NotStrictlyFalse, operators.In,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	overloads.Size, overloads.Contains, overloads.StartsWith, overloads.EndsWith, overloads.Matches,
	overloads.TypeConvertBool, overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble,
	overloads.TypeConvertString, overloads.TypeConvertBytes, overloads.TypeConvertDuration, overloads.TypeConvertTimestamp,
	overloads.TypeConvertType, overloads.TypeConvertDyn,
)

// estimatedCost holds functions whose cost Kubernetes' estimator or cel-go defines. It need not be
// complete: for other functions, trackers return the cost, more slowly.
var estimatedCost = sets.New(
	"optional.of", "optional.ofNonZeroValue", "value", "hasValue",
	"cel.@mapInsert", // of transformMap and transformMapEntry

	overloads.TimeGetFullYear, overloads.TimeGetMonth, overloads.TimeGetDate, overloads.TimeGetDayOfMonth,
	overloads.TimeGetDayOfWeek, overloads.TimeGetDayOfYear, overloads.TimeGetHours, overloads.TimeGetMinutes,
	overloads.TimeGetSeconds, overloads.TimeGetMilliseconds,

	"find", "findAll", "charAt", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii", "format",

	"isSorted", "sum", "max", "min", "includes", "first", "last",
	"math.abs", "math.ceil", "math.floor", "math.round", "math.trunc", "math.sign", "math.sqrt", "math.isNaN", "math.isInf", "math.isFinite",
	"math.bitAnd", "math.bitOr", "math.bitXor", "math.bitNot", "math.bitShiftLeft", "math.bitShiftRight",
	"url", "isURL", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery",
	"quantity", "isQuantity", "sign", "isInteger", "asInteger", "asApproximateFloat", "isGreaterThan", "isLessThan",
	"compareTo", "add", "sub",
	"semver", "isSemver", "major", "minor", "patch",
	"ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast",
	"isGlobalUnicast", "cidr", "isCIDR", "containsIP", "containsCIDR", "masked", "prefixLength",
	"path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "fieldSelector",
	"labelSelector", "allowed", "reason", "error", "errored",
)
