// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// The API groups that --to names.
const (
	toNative   = "native"
	toPolyfill = "polyfill"
)

func newConvertCommand() *cobra.Command {
	var to string
	command := &cobra.Command{
		Use:   "convert --to native|polyfill FILE|DIR ...",
		Short: "Move policies to the API group of the API server, or of the polyfill",
		Long: `Print files with the policies and bindings of the other API group: admissionregistration.k8s.io with --to native, policy.celador.io with
--to polyfill. Other objects, comments and the format stay as they are. The file - is standard input.

The exit code is 0 if the other side has all fields, 1 if it lacks some, which standard error lists, and 2 if the input is not usable.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unusable("name the files to convert")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if to != toNative && to != toPolyfill {
				return unusable("--to %q: want %s or %s", to, toNative, toPolyfill)
			}
			return convertPolicies(cmd.InOrStdin(), cmd.OutOrStdout(), to, args)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable("%w", err) })
	command.Flags().StringVar(&to, "to", "", "API group of the policies: native or polyfill")
	return command
}

// convertPolicies writes the files at paths to w, with the policies and bindings moved to another
// API group: admissionregistration.k8s.io if to is toNative, the group of the polyfill if it is
// toPolyfill. The path - stands for stdin. It returns an error for fields that the new group lacks.
func convertPolicies(stdin io.Reader, w io.Writer, to string, paths []string) error {
	var out bytes.Buffer
	var errs []error
	var lacking []error
	found := false
	for _, path := range paths {
		files := []string{stdinPath}
		if path != stdinPath {
			var err error
			if files, err = manifest.Files(path); err != nil {
				errs = append(errs, err)
			}
		}
		for _, file := range files {
			text, missing, isPolicy, err := convertFile(stdin, to, file)
			errs, lacking, found = append(errs, err), append(lacking, missing...), found || isPolicy
			if out.Len() > 0 && !bytes.HasPrefix(text, []byte("---")) {
				out.WriteString("---\n")
			}
			out.Write(text)
			if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
				out.WriteByte('\n')
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{err, exitUnusable}
	}
	if !found {
		return unusable("there is no policy or binding to convert in %s", strings.Join(paths, ", "))
	}
	if _, err := out.WriteTo(w); err != nil {
		return unusable("%w", err)
	}
	if len(lacking) > 0 {
		return exitError{errors.Join(lacking...), exitFailed}
	}
	return nil
}

// convertFile returns the text of a file with its policies and bindings in the API group that to
// names. If Kubernetes is to serve them (toNative), lacking holds an error for each field that only
// Celador has and for each expression that Kubernetes cannot compile. isPolicy reports whether the
// file has a policy or binding.
func convertFile(stdin io.Reader, to, file string) (text []byte, lacking []error, isPolicy bool, err error) {
	name := filepath.Clean(file)
	if file == stdinPath {
		name = "stdin"
		text, err = io.ReadAll(stdin)
	} else {
		text, err = manifest.ReadFile(file)
	}
	if err != nil {
		return nil, nil, false, err
	}
	documents, err := manifest.Parse(name, text)
	if err != nil {
		return nil, nil, false, err
	}
	for document, err := range manifest.Items(documents) {
		if err != nil {
			return nil, nil, false, err
		}
		if !isPolicyOrBinding(document.GroupVersionKind().GroupKind()) {
			continue
		}
		isPolicy = true
		object, err := document.Object()
		if err != nil {
			return nil, nil, false, err
		}
		own, err := cluster.OwnFields(object)
		if err != nil {
			return nil, nil, false, document.Errorf("", "%v", err)
		}
		for _, f := range own {
			if to == toNative {
				format := "Kubernetes has no such field, and Celador's kube-apiserver %s"
				if f.Type == field.ErrorTypeInvalid {
					format = "Kubernetes cannot compile the expression: %s"
				}
				lacking = append(lacking, document.Errorf(f.Field, format, f.Detail))
			}
		}
	}
	text, err = manifest.WithAPIVersions(name, text, func(apiVersion, kind string) string {
		switch version, _ := schema.ParseGroupVersion(apiVersion); {
		case to == toNative && version == v1.PolyfillGroupVersion:
			return v1.SchemeGroupVersion.String()
		case to == toPolyfill && isPolicyOrBinding(schema.GroupKind{Group: version.Group, Kind: kind}):
			return v1.PolyfillGroupVersion.String()
		}
		return apiVersion
	})
	return text, lacking, isPolicy, err
}

// isPolicyOrBinding reports whether a kind is one of policies or bindings. The API group alone does
// not tell, because the webhook configurations are in it, too.
func isPolicyOrBinding(kind schema.GroupKind) bool {
	return cluster.IsPolicy(schema.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "Binding")})
}
