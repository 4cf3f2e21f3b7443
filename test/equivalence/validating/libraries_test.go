// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// libraries are examples of the functions and types of CEL libraries.
func libraries() map[string]example {
	result := map[string]example{}
	for name, expression := range map[string]string{
		"strings":          "'a-b-c'.split('-').join('+') == 'a+b+c' && 'Abc'.lowerAscii() == 'abc' && ' x '.trim() == 'x' && 'abc'.substring(1) == 'bc' && '%s=%d'.format(['a', 1]) == 'a=1'",
		"quoting":          `strings.quote('a"b') == '"a\\"b"'`,
		"regular":          "'web-12'.matches('^[a-z]+-[0-9]+$') && 'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
		"lists":            "[3, 1, 2].sum() == 6 && [1, 2].isSorted() && [1, 3].max() == 3 && ['a', 'b'].indexOf('b') == 1",
		"sets":             "sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 2])",
		"urls":             "url('https://example.com:80/a?b=c').getHost() == 'example.com:80' && isURL('https://example.com') && !isURL(':')",
		"ips":              "ip('10.0.0.7').family() == 4 && isIP('::1') && !isIP('10.0.0.300') && ip('127.0.0.1').isLoopback()",
		"cidrs":            "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('11.0.0.0/16') && isCIDR('10.0.0.0/8')",
		"quantities":       "quantity('1Gi').isGreaterThan(quantity('1000M')) && quantity('1.5').add(quantity('500m')).compareTo(quantity('2')) == 0 && isQuantity('5k') && quantity('50k').asInteger() == 50000",
		"versions":         "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.2.3') && semver('v1.2', true).major() == 1",
		"formats":          "!format.dns1123Label().validate(object.metadata.name).hasValue() && format.dns1123Label().validate('No Label').hasValue()",
		"named format":     "format.named('uuid').hasValue() && !format.named('no such format').hasValue()",
		"optional":         "object.?spec.?missing.orValue(7) == 7 && optional.of(1).hasValue() && !optional.none().hasValue() && object.spec[?'replicas'].value() == 9",
		"optional entries": "[?object.?missing].size() == 0 && {?'a': object.?missing}.size() == 0",
		"two variables":    "{'a': 1, 'b': 2}.all(k, v, v > 0) && [1, 2].exists(i, v, i == 1 && v == 2)",
		"transforming":     "[1, 2].transformMap(i, v, v * 2) == {0: 2, 1: 4} && {'a': 1}.transformList(k, v, k) == ['a']",
		"times":            "timestamp('2026-01-02T03:04:05Z') + duration('1h') == timestamp('2026-01-02T04:04:05Z') && duration('90m').getHours() == 1",
		"numbers":          "int('3') + int(2.9) == 5 && double(3) / 2.0 == 1.5 && uint(4) == 4u && 7 % 3 == 1",
		"mixed comparison": "1 < 1.5 && 2u > 1 && dyn(1) == dyn(1.0)",
		"bytes":            "bytes('a') == b'a' && string(b'hello') == 'hello' && size(b'ab') == 2",
		"types":            "type(object.spec.replicas) == int && type('') == string && type([]) == list && type(object) == map",
		"maps":             "object.metadata.labels.exists(k, k == 'app') && 'app' in object.metadata.labels && size(object.metadata.labels) == 1",
		"raw strings":      `r'\d+' == '\\d+' && '''a''' == 'a'`,
		"reserved":         "object.?__namespace__.orValue('none') == 'none'",
	} {
		result[name] = example{spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(expression)}}
	}
	for name, c := range map[string]struct{ expression, message string }{
		"bad quantity":       {"quantity(object.metadata.name).isInteger()", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		"bad ip":             {"ip('10.0.0.300').family() == 4", `IP Address "10.0.0.300" parse error during conversion from string: ParseAddr("10.0.0.300"): IPv4 field has value >255`},
		"bad cidr":           {"cidr('10.0.0.0/99').prefixLength() == 8", `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/99"): prefix length out of range`},
		"bad version":        {"semver('one').major() == 1", "No Major.Minor.Patch elements found"},
		"bad regular":        {"'web'.matches('[' + object.metadata.name)", "error parsing regexp: missing closing ]: `[web`"},
		"bad duration":       {"duration(object.metadata.name) == duration('1s')", "type conversion error from 'string' to 'google.protobuf.Duration'"},
		"overflow":           {"object.spec.replicas + 9223372036854775807 > 0", "integer overflow"},
		"no value":           {"object.?missing.value() == 1", "optional.none() dereference"},
		"no such key in map": {"{'a': 1}[object.metadata.name] == 1", "no such key: web"},
	} {
		result[name] = example{
			spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(c.expression)},
			want: says("denied: expression '" + c.expression + "' resulted in error: " + c.message),
		}
		result[name+", ignored"] = example{spec: ignoring(v1.ValidatingAdmissionPolicySpec{Validations: validating(c.expression)})}
	}
	return result
}
