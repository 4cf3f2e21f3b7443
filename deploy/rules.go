// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package deploy

import "sigs.k8s.io/yaml"

// Rule is a recording or an alerting rule.
type Rule struct {
	// File is the path of the rule's file in Files.
	File string `json:"-"`
	// Record is the name of the recorded series, and empty for alerts.
	Record string `json:"record"`
	// Alert is the name of the alert, and empty for recorded series.
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Rules returns the rules of all files. It returns an error if a file has unknown fields.
func Rules() (rules []Rule, err error) {
	err = eachFile("rules/*.yaml", func(name string, text []byte) error {
		var file struct {
			Groups []struct {
				Name  string `json:"name"`
				Rules []Rule `json:"rules"`
			} `json:"groups"`
		}
		if err := yaml.UnmarshalStrict(text, &file); err != nil {
			return err
		}
		for _, group := range file.Groups {
			for _, rule := range group.Rules {
				rule.File = name
				rules = append(rules, rule)
			}
		}
		return nil
	})
	return rules, err
}
