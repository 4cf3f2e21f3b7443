// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

const readyInterval = 25 * time.Millisecond

// failedCheck matches the names of failed checks in a response of /readyz.
var failedCheck = regexp.MustCompile(`(?m)^\[-\](\S+)`)

// awaitReady returns nil once the server at config is ready and has its default namespace; without
// that namespace, no namespaced object can be created. It calls answered once, at the server's
// first response of any status. If ctx ends first, the error contains the last failure.
func awaitReady(ctx context.Context, config *rest.Config, answered func()) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()

	lastErr := errors.New("no answer")
	err = wait.PollUntilContextCancel(ctx, readyInterval, true, func(ctx context.Context) (bool, error) {
		for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
			status, body, err := get(ctx, client, config.Host+path)
			if err != nil {
				if ctx.Err() == nil {
					lastErr = err
				}
				return false, nil
			}
			if answered != nil {
				answered()
				answered = nil
			}
			if status != http.StatusOK {
				lastErr = fmt.Errorf("%s answered %d%s", path, status, failedChecks(body))
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("the server did not become ready, %w: %w", context.Cause(ctx), lastErr)
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func failedChecks(body string) string {
	var names []string
	for _, match := range failedCheck.FindAllStringSubmatch(body, -1) {
		names = append(names, match[1])
	}
	if len(names) == 0 {
		return ""
	}
	return ", waiting for " + strings.Join(names, ", ")
}
