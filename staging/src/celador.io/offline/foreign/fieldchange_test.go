// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestChangeField(t *testing.T) {
	const before = `{"metadata":{"name":"x","labels":null},"spec":{"list":[{"name":"a"},null],"text":"t"}}`
	for _, test := range []struct {
		change string
		path   string
		want   string // the object afterwards, if it is another one
		err    string
	}{
		{change: "metadata.name=y", path: "metadata.name", want: `{"metadata":{"labels":null,"name":"y"},"spec":{"list":[{"name":"a"},null],"text":"t"}}`},
		{change: "kind=Pod", path: "kind", want: `{"kind":"Pod","metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":"t"}}`},
		{change: "spec.text=", path: "spec.text", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":""}}`},
		{change: "spec.text=null", path: "spec.text", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":null}}`},
		{change: "spec.text=true", path: "spec.text", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":true}}`},
		{change: "spec.text=1.5", path: "spec.text", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":1.5}}`},
		{change: `spec.text="7"`, path: "spec.text", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"text":"7"}}`},
		{change: `spec.list=[{"name":"b"}]`, path: "spec.list", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"b"}],"text":"t"}}`},
		{change: "spec.list.[0].name=b", path: "spec.list[0].name", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"b"},null],"text":"t"}}`},
		{change: "spec.list.[1].name=b", path: "spec.list[1].name", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},{"name":"b"}],"text":"t"}}`},
		{change: "spec.list.[1]=b", path: "spec.list[1]", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},"b"],"text":"t"}}`},
		{change: "spec.list.[3].name=b", path: "spec.list[3].name", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null,null,{"name":"b"}],"text":"t"}}`},
		{change: "spec.list[0].name=b", path: "spec.list[0].name", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"list[0]":{"name":"b"},"text":"t"}}`},
		{change: "spec.more.deep.field=b", path: "spec.more.deep.field", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"more":{"deep":{"field":"b"}},"text":"t"}}`},
		{change: "spec.more.[1].field=b", path: "spec.more[1].field", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"more":[null,{"field":"b"}],"text":"t"}}`},
		{change: "spec.more.[0].field=b", path: "spec.more[0].field", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"more":[{"field":"b"}],"text":"t"}}`},
		{change: "spec.more.[0].[1]=b", path: "spec.more[0][1]", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"more":[[null,"b"]],"text":"t"}}`},
		{change: "spec.more.[0]=b", path: "spec.more[0]", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null],"more":["b"],"text":"t"}}`},
		{change: "spec.[0]=b", path: "spec[0]", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"0":"b","list":[{"name":"a"},null],"text":"t"}}`},
		{change: "spec.list.[2].name=b", path: "spec.list[2].name", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null,{"name":"b"}],"text":"t"}}`},
		{change: "spec.list.[2]=b", path: "spec.list[2]", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"list":[{"name":"a"},null,"b"],"text":"t"}}`},
		{change: "metadata.labels.app=b", path: "metadata.labels.app", want: `{"metadata":{"labels":{"app":"b"},"name":"x"},"spec":{"list":[{"name":"a"},null],"text":"t"}}`},
		{change: "metadata.labels.top-secret=b", path: "metadata.labels.top-secret", want: `{"metadata":{"labels":{"top-secret":"b"},"name":"x"},"spec":{"list":[{"name":"a"},null],"text":"t"}}`},
		{change: "spec.a.b=c", path: "spec.a.b", want: `{"metadata":{"labels":null,"name":"x"},"spec":{"a":{"b":"c"},"list":[{"name":"a"},null],"text":"t"}}`},
		{change: "spec.list.name=b", err: "spec.list is a list, and name not an index"},
		{change: "spec.list.name.deep=b", err: "spec.list is a list, and name not an index"},
		{change: "spec.[0].more=b", err: "spec is an object, and [0] an index"},
		{change: "spec.more.5=b", err: `"5" is neither a key`},
		{change: "spec.text.more=b", err: "spec.text is neither an object nor a list"},
		{change: "spec.list.[0]x.name=b", err: `"[0]x" is neither a key`},
		{change: "spec.list.[99999]=b", err: `"[99999]" is neither a key`},
		{change: "spec.text", err: "want path=value with exactly one ="},
		{change: "spec.text=a=b", err: "want path=value with exactly one ="},
	} {
		t.Run(test.change, func(t *testing.T) {
			var object map[string]any
			if err := json.Unmarshal([]byte(before), &object); err != nil {
				t.Fatal(err)
			}
			path, err := changeField(object, test.change)
			if err != nil || test.err != "" {
				if err == nil || test.err == "" || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			got, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want || path != test.path {
				t.Errorf("path %q, object\n%s, want %q,\n%s", path, got, test.path, test.want)
			}
		})
	}
}

func FuzzChangeField(f *testing.F) {
	f.Add("spec.list.[9].name=b")
	f.Add("spec.list.[0]=[]")
	f.Add("...=[")
	f.Fuzz(func(t *testing.T, change string) {
		object := map[string]any{"spec": map[string]any{"list": []any{map[string]any{"name": "a"}}}}
		_, _ = changeField(object, change)
	})
}
