// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"slices"
	"strings"
	"testing"
)

func TestReadExceptions(t *testing.T) {
	for name, test := range map[string]struct {
		list string
		want []Exception
		err  string
	}{
		"nothing": {},
		"comments, empty lines and spaces": {
			list: "# c\n\n  a spec [Conformance]  ::  because :: of # this  \n\t# d\nanother :: why\n",
			want: []Exception{{"a spec [Conformance]", "because :: of # this"}, {"another", "why"}},
		},
		"a colon in the name": {
			list: "x [Privileged:ClusterAdmin] y :: why",
			want: []Exception{{"x [Privileged:ClusterAdmin] y", "why"}},
		},
		"no reason":    {list: "# c\na spec", err: `line 2: want a spec's name," :: "and a reason, got "a spec"`},
		"empty reason": {list: "a spec :: ", err: "line 1: want"},
		"empty name":   {list: ":: why", err: "line 1: want"},
		"twice":        {list: "a :: x\nb :: y\na :: z", err: `line 3: spec "a" is already listed`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadExceptions(strings.NewReader(test.list))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
