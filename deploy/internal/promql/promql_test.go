// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package promql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/celador/deploy/internal/promql"
)

func TestParse(t *testing.T) {
	type selectors = []promql.Selector
	a := []promql.Matcher{{"a", "=", "1"}}
	for text, want := range map[string]promql.Expression{
		`1`:                                     {},
		`up`:                                    {Selectors: selectors{{Metric: "up"}}},
		`up{}`:                                  {Selectors: selectors{{Metric: "up"}}},
		` up { a = "1" , } `:                    {Selectors: selectors{{"up", a, []string{"a"}}}},
		`up{b!="1",a=~"x|y",c!~"\"}{"}`:         {Selectors: selectors{{"up", []promql.Matcher{{"b", "!=", "1"}, {"a", "=~", "x|y"}, {"c", "!~", "\"}{"}}, []string{"a", "b", "c"}}}},
		`a:b:c > 0.5`:                           {Selectors: selectors{{Metric: "a:b:c"}}},
		`-rate(x[5m]) * 1e3`:                    {Selectors: selectors{{Metric: "x"}}},
		`sum(rate(x{a="1"}[$__rate_interval]))`: {Selectors: selectors{{"x", a, []string{"a"}}}, Labels: []string{}},
		`sum by (c, b) (x)`:                     {Selectors: selectors{{"x", nil, []string{"b", "c"}}}, Labels: []string{"c", "b"}},
		`sum(x) by (b)`:                         {Selectors: selectors{{"x", nil, []string{"b"}}}, Labels: []string{"b"}},
		`sum without (b) (x{a="1"})`:            {Selectors: selectors{{"x", a, []string{"a"}}}},
		`max by (a) (x) / on (b) group_left (c) y{a="1"}`:               {Selectors: selectors{{"x", nil, []string{"a", "b"}}, {"y", a, []string{"a", "b"}}}, Labels: []string{"a"}},
		`(x > bool 1) and ignoring (a) group_right y unless z`:          {Selectors: selectors{{Metric: "x"}, {Metric: "y"}, {Metric: "z"}}},
		`histogram_quantile(0.99, sum by (a, le) (rate(x_bucket[5m])))`: {Selectors: selectors{{"x_bucket", nil, []string{"a", "le"}}}, Labels: []string{"a"}},
		`topk(5, sum by (a) (x))`:                                       {Selectors: selectors{{"x", nil, []string{"a"}}}, Labels: []string{"a"}},
	} {
		got, err := promql.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		matcher promql.Matcher
		want    []string
	}{
		{promql.Matcher{Operator: "=", Value: "a"}, []string{"a"}},
		{promql.Matcher{Operator: "!=", Value: "a"}, []string{"", "ab", "b"}},
		{promql.Matcher{Operator: "=~", Value: "a|b"}, []string{"a", "b"}},
		{promql.Matcher{Operator: "!~", Value: "a|b"}, []string{"", "ab"}},
	} {
		var got []string
		for _, value := range []string{"", "a", "ab", "b"} {
			if test.matcher.Matches(value) {
				got = append(got, value)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v matches (-want +got):\n%s", test.matcher, diff)
		}
	}
}

func TestSelects(t *testing.T) {
	s := promql.Selector{Matchers: []promql.Matcher{{"a", "=", "1"}}, Labels: []string{"a", "b"}}
	for _, test := range []struct {
		labels map[string]string
		want   bool
	}{
		{map[string]string{"a": "1", "b": "2", "c": "3"}, true},
		{map[string]string{"a": "1"}, false},
		{map[string]string{"a": "2", "b": "2"}, false},
	} {
		if got := s.Selects(test.labels); got != test.want {
			t.Errorf("%v: got %v", test.labels, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                       `unexpected end of ""`,
		`x +`:                    `unexpected end of "x +"`,
		`x y`:                    `unexpected "y"`,
		`{a="1"}`:                `unexpected "{a=\"1\"}": write the name of the metric before the braces`,
		`x{a}`:                   `unexpected "}"`,
		`x{"a"="1"}`:             `unexpected "\"a\"=\"1\"}"`,
		`x{a="1" b="2"}`:         `unexpected "b=\"2\"}", want ","`,
		`sum by (a (x)`:          `unexpected "(x)", want ","`,
		`sum by ("a") (x)`:       `unexpected "\"a\") (x)"`,
		`sum(x`:                  `unexpected end of "sum(x", want ","`,
		`(x`:                     `unexpected end of "(x", want ")"`,
		`x{a="1}`:                `no token of PromQL at "\"1}"`,
		`x{a="\q"}`:              `string "\q": invalid syntax`,
		`x{a=~"("}`:              "missing closing )",
		`x[5m`:                   `no token of PromQL at "[5m"`,
		`x # comment`:            `no token of PromQL at "# comment"`,
		strings.Repeat("(", 200): "more than 100 nested parentheses",
	} {
		if _, err := promql.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", text, err, want)
		}
	}
}

// Every text is parsed or refused.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`sum by (a, le) (rate(x_bucket{b=~"$c"}[$__rate_interval])) / on (a) group_left (c) y > bool 0.5`,
		`histogram_quantile(0.9, x)`, `-(`, `x{`, `a[`, `"\`, "\x00", `sum without () ()`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := promql.Parse(text)
		if err == nil {
			for _, s := range parsed.Selectors {
				if !strings.Contains(text, s.Metric) {
					t.Errorf("%q has no metric %q", text, s.Metric)
				}
			}
		}
	})
}
