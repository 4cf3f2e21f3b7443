// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"celador.io/admission/policyspec"
)

// apiField is a field of a spec, at any depth.
type apiField struct {
	// path is the JSON path, as field.Path prints it.
	path  string
	name  string
	value reflect.Value
	// number is the number of the field in protobuf.
	number int
}

// fill sets all fields of the types of group admissionregistration in v, which are below path.
// Lists get one element, and strings their path. It returns the fields.
func fill(v reflect.Value, path string) []apiField {
	var fields []apiField
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), path+"[0]")
	case reflect.String:
		v.SetString(path)
	case reflect.Struct:
		if !strings.HasSuffix(v.Type().PkgPath(), "/admissionregistration/v1") {
			return nil
		}
		for i := range v.NumField() {
			f, below := v.Type().Field(i), path
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				below += "." + name
			}
			number, err := strconv.Atoi(strings.Split(f.Tag.Get("protobuf"), ",")[1])
			if err != nil {
				panic(err)
			}
			fields = append(fields, apiField{below, f.Name, v.Field(i), number})
			fields = append(fields, fill(v.Field(i), below)...)
		}
	default:
		panic(fmt.Sprintf("%s is a %v", path, v.Type()))
	}
	return fields
}

// full returns a spec with all fields set, and the fields.
func full[S policyspec.Spec]() (*S, []apiField) {
	spec := new(S)
	return spec, fill(reflect.ValueOf(spec).Elem(), "spec")
}
