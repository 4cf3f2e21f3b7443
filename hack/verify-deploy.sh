#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies the rules for Prometheus with promtool: their syntax, and by their tests when alerts fire. Verifies with
# jsonnet that the mixin has the same rules and the dashboard.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="${PATH}:${PWD}/_output/bin"

hack/install-deploy-tools.sh
promtool check rules --lint=all --lint-fatal deploy/rules/*.yaml
promtool test rules deploy/rules/tests/*.yaml
jsonnet --exec "
  local mixin = import 'deploy/mixin.libsonnet';
  local elsewhere = mixin { _config+:: { runbookURL: 'https://example.com/runbooks' } };
  {
    alerts: std.assertEqual(mixin.prometheusAlerts, std.parseYaml(importstr 'deploy/rules/alerts.yaml')),
    rules: std.assertEqual(mixin.prometheusRules, std.parseYaml(importstr 'deploy/rules/recording.yaml')),
    dashboards: std.assertEqual(mixin.grafanaDashboards['celador.json'], import 'deploy/dashboards/celador.json'),
    runbooks: std.assertEqual(elsewhere.prometheusAlerts.groups[0].rules[0].annotations.runbook_url, 'https://example.com/runbooks#celadormetricsabsent'),
  }" >/dev/null
