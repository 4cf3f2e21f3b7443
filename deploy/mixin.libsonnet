// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// A monitoring mixin of the dashboards and rules in this directory.
local runbooks = 'https://celador.io/docs/runbooks.md';
local alerts = std.parseYaml(importstr 'rules/alerts.yaml');

{
  _config+:: {
    // runbookURL is where you publish docs/runbooks.md.
    runbookURL: runbooks,
  },

  grafanaDashboards+:: {
    'celador.json': import 'dashboards/celador.json',
  },

  prometheusAlerts+:: {
    groups+: [
      group {
        rules: [
          rule { annotations+: { runbook_url: std.strReplace(super.runbook_url, runbooks, $._config.runbookURL) } }
          for rule in group.rules
        ],
      }
      for group in alerts.groups
    ],
  },

  prometheusRules+:: {
    groups+: std.parseYaml(importstr 'rules/recording.yaml').groups,
  },
}
