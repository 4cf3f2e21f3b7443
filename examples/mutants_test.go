// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// tokens matches operators, numbers and fields of expressions. It matches texts as a whole, so that
// their parts stay.
var tokens = regexp.MustCompile(`'[^']*'|"[^"]*"|<=|>=|==|!=|&&|\|\||!|[<>]|\b\d+\b|\.\??[a-zA-Z]+\b`)

// replacements holds what takes the place of an operator, or of a field: another field of the same
// object and of a similar type.
var replacements = map[string][]string{
	"<=": {"<", ">=", "=="}, "==": {"!="}, "!=": {"=="}, "&&": {"||"}, "||": {"&&"}, "!": {""},
	".replicas": {".minReadySeconds"}, ".dnsPolicy": {".restartPolicy"}, ".dnsConfig": {".securityContext"}, ".namespace": {".name"}, ".name": {".image"},
	".imagePullPolicy": {".terminationMessagePolicy"}, ".containers": {".initContainers"}, ".?initContainers": {".?ephemeralContainers"}, ".?env": {".?envFrom"},
}

// equivalents are the mutants that behave like the policies, by example and change.
var equivalents = map[string]string{
	"mutating-dns: expression[136]: .dnsConfig → .securityContext":                       "JSON patches do not depend on the names of types",
	"mutating-image-pull: expression[46]: .imagePullPolicy → .terminationMessagePolicy":  "a patch that sets Always again changes nothing",
	"mutating-image-pull: expression[256]: .imagePullPolicy → .terminationMessagePolicy": "a patch that sets Always again changes nothing",
}

// TestMutants changes one operator, bound or field of the policies of examples whose suites cover
// all branches. The suites have to notice.
func TestMutants(t *testing.T) {
	var tests []*suite.Test
	var changes []string
	for _, example := range covered {
		for change, policy := range mutants(t, filepath.Join(example, "policy.yaml")) {
			directory := filepath.Join(t.TempDir(), example)
			if err := os.CopyFS(directory, os.DirFS(example)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, "policy.yaml"), policy, 0o600); err != nil {
				t.Fatal(err)
			}
			loaded, err := new(suite.Loader).Load(filepath.Join(directory, "suite.yaml"))
			if err != nil || len(loaded) != 1 {
				t.Fatalf("%d suites, error %v", len(loaded), err)
			}
			tests, changes = append(tests, loaded...), append(changes, example+": "+change)
		}
	}
	runner := suite.Runner{Backend: offlinebackend.KubeAPIServer}
	for i, result := range runner.Run(t.Context(), tests) {
		caught := false
		for j := range result.Cases {
			caught = caught || !result.Cases[j].Passed()
		}
		if reason, equivalent := equivalents[changes[i]]; caught == equivalent {
			t.Errorf("%s: caught %t, listed as equivalent because %q", changes[i], caught, reason)
		}
	}
	if len(tests) < 30 {
		t.Errorf("%d mutants, want one for each operator, bound and field of the examples", len(tests))
	}
}

// mutants returns policies that differ from the one in a file in one token of an expression, by
// this change.
func mutants(t *testing.T, file string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var policy map[string]any
	if err := yaml.Unmarshal(data, &policy); err != nil {
		t.Fatal(err)
	}
	changed := map[string][]byte{}
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, field := range v {
				text, isText := field.(string)
				if !isText || !strings.HasSuffix(strings.ToLower(key), "expression") {
					walk(field)
					continue
				}
				for _, at := range tokens.FindAllStringIndex(text, -1) {
					token := text[at[0]:at[1]]
					for _, replacement := range replacementsOf(token) {
						v[key] = text[:at[0]] + replacement + text[at[1]:]
						mutant, err := yaml.Marshal(policy)
						if err != nil {
							t.Fatal(err)
						}
						changed[fmt.Sprintf("%s[%d]: %s → %s", key, at[0], token, replacement)] = mutant
					}
				}
				v[key] = text
			}
		}
	}
	walk(policy["spec"])
	return changed
}

func replacementsOf(token string) []string {
	if n, err := strconv.Atoi(token); err == nil {
		return []string{strconv.Itoa(n + 1), strconv.Itoa(n - 1)}
	}
	return replacements[token]
}
