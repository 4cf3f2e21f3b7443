// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package deploy

import "encoding/json"

// Dashboard is the part of a Grafana dashboard that tests check.
type Dashboard struct {
	// File is the path of the dashboard in Files.
	File       string  `json:"-"`
	UID        string  `json:"uid"`
	Title      string  `json:"title"`
	Panels     []Panel `json:"panels"`
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
}

// Panel is a panel or a row of a dashboard.
type Panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Position    Position   `json:"gridPos"`
	Datasource  Datasource `json:"datasource"`
	Targets     []Target   `json:"targets"`
}

// Position is the place of a panel on the grid, which is 24 units wide.
type Position struct{ X, Y, W, H int }

// Datasource is a reference to a data source, or to a variable that holds one.
type Datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Target is a query of a panel.
type Target struct {
	Datasource Datasource `json:"datasource"`
	Expr       string     `json:"expr"`
	Legend     string     `json:"legendFormat"`
}

// Variable is a variable of a dashboard.
type Variable struct {
	Name       string     `json:"name"`
	Type       string     `json:"type"`
	Datasource Datasource `json:"datasource"`
	// Query is the query of a variable of type "query".
	Query any `json:"query"`
}

// Dashboards returns all dashboards.
func Dashboards() (dashboards []Dashboard, err error) {
	err = eachFile("dashboards/*.json", func(name string, text []byte) error {
		dashboard := Dashboard{File: name}
		if err := json.Unmarshal(text, &dashboard); err != nil {
			return err
		}
		dashboards = append(dashboards, dashboard)
		return nil
	})
	return dashboards, err
}
