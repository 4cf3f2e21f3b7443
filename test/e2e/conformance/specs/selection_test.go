// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"reflect"
	"strings"
	"testing"
)

const (
	apply      = "[sig-api-machinery] ServerSideApply should work"
	definition = "[sig-api-machinery] CustomResourceDefinition resources should list"
	watch      = "[sig-api-machinery] CustomResourceDefinition Watch should watch [Conformance]"
	defaulting = "[sig-api-machinery] CustomResourceDefaulting should default"
	pod        = "[sig-node] ServerSideApply should work"
)

func TestSelect(t *testing.T) {
	all := []string{apply, definition, watch, defaulting, pod}
	for name, test := range map[string]struct {
		groups     []Group
		exceptions string
		all        bool
		want       []Selection
		err        []string
	}{
		"a group is a whole word of one SIG": {
			groups: []Group{"CustomResourceDefinition", "ServerSideApply"},
			want: []Selection{
				{Group: "CustomResourceDefinition", Run: []string{definition, watch}},
				{Group: "ServerSideApply", Run: []string{apply}},
			},
		},
		"an exception does not run": {
			groups:     []Group{"CustomResourceDefinition", "ServerSideApply"},
			exceptions: apply + " :: a\n" + watch + " :: w",
			want: []Selection{
				{Group: "CustomResourceDefinition", Run: []string{definition}, Excepted: []Exception{{watch, "w"}}},
				{Group: "ServerSideApply", Excepted: []Exception{{apply, "a"}}},
			},
		},
		"all specs run": {
			groups:     []Group{"ServerSideApply"},
			exceptions: apply + " :: a",
			all:        true,
			want:       []Selection{{Group: "ServerSideApply", Run: []string{apply}}},
		},
		"a group without specs": {
			groups: []Group{"ServerSideApply", "FieldValidation"},
			err:    []string{`group "FieldValidation" has no specs`},
		},
		"an exception without a spec": {
			groups:     []Group{"ServerSideApply"},
			exceptions: apply + " :: a\n" + apply + " [Conformance] :: b",
			err:        []string{`there is no spec "` + apply + ` [Conformance]"`},
		},
		"an exception outside of the groups": {
			groups:     []Group{"ServerSideApply"},
			exceptions: watch + " :: w\n" + definition + " :: d",
			err:        []string{`there is no spec "` + watch + `"`, `there is no spec "` + definition + `"`},
		},
		"a line without a reason": {
			groups:     []Group{"ServerSideApply"},
			exceptions: apply,
			err:        []string{"exceptions.txt: line 1: want"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Select(all, test.groups)
			if err == nil {
				got, err = Except(got, test.exceptions, test.all)
			}
			if test.err == nil {
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, test.want) {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
				return
			}
			if err == nil {
				t.Fatalf("no error, want %q", test.err)
			}
			for _, want := range test.err {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if got, want := strings.Count(err.Error(), "\n")+1, len(test.err); got != want {
				t.Errorf("error %q names %d problems, want %d", err, got, want)
			}
		})
	}
}
