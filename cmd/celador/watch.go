// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"celador.io/offline/manifest"
	"celador.io/offline/report"
	"celador.io/offline/suite"
)

// settled is the time without further changes after which suites run again. Editors write a file in
// several steps.
const settled = 100 * time.Millisecond

// testOnChanges runs the suites at paths, and again whenever one of their files changes, until a
// signal ends it. It returns the result of the last complete run.
func (o *testOptions) testOnChanges(ctx context.Context, w, stderr io.Writer, paths []string) error {
	if err := o.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return unusable("%w", err)
	}
	defer watcher.Close()
	var last error
	for {
		// The watch begins before the files are read, so that a file that changes during this run
		// triggers the next one.
		watchPaths(watcher, paths)
		tests, problems := load(paths)
		for _, test := range tests {
			watchFiles(watcher, test.Files())
		}
		for _, p := range problems {
			watchFiles(watcher, suite.FilesOf(p.Err))
		}
		err := o.runSuites(ctx, w, stderr, tests, problems)
		if ctx.Err() != nil {
			return withoutText(last)
		}
		last = err
		if exit, ok := err.(exitError); ok && exit.error != nil {
			fmt.Fprintln(stderr, report.Printable(exit.Error()))
		}
		fmt.Fprint(stderr, "\nwaiting for changes, end with Ctrl-C\n")
		changed := nextChange(ctx, watcher, w)
		if changed == "" {
			return withoutText(last)
		}
		fmt.Fprintf(stderr, "\n%s %s changed\n\n", time.Now().Format(time.TimeOnly), changed)
	}
}

// withoutText returns an error with the exit code of err, but without its text, which was printed
// after the run.
func withoutText(err error) error {
	if exit, ok := err.(exitError); ok {
		return exitError{nil, exit.code}
	}
	return err
}

// watchPaths watches the directories of files, and directories with their subdirectories. It
// ignores errors about paths, because the run reports them.
func watchPaths(watcher *fsnotify.Watcher, paths []string) {
	for _, path := range paths {
		_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case !entry.IsDir():
				watchFiles(watcher, []string{path})
				return nil
			case len(entry.Name()) > 1 && entry.Name()[0] == '.' && entry.Name() != "..":
				return fs.SkipDir
			}
			_ = watcher.Add(path)
			return nil
		})
	}
}

// watchFiles watches the directories of files instead of the files, because an editor may save a
// file by replacing it.
func watchFiles(watcher *fsnotify.Watcher, files []string) {
	for _, file := range files {
		_ = watcher.Add(filepath.Dir(file)) // a directory that is gone has no changes
	}
}

// nextChange waits until a file changes, and then until no file has changed for the time settled.
// It returns the name of the file that changed last, or an empty name once ctx is done. It ignores
// changes of w, which the results are written to.
func nextChange(ctx context.Context, watcher *fsnotify.Watcher, w io.Writer) string {
	changed := ""
	quiet := time.NewTimer(settled)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case event := <-watcher.Events:
			if event.Op == fsnotify.Chmod || !isManifest(event.Name) || isOutput(event.Name, w) {
				continue
			}
			changed = event.Name
			quiet.Reset(settled)
		case <-watcher.Errors:
			// Events were lost: run to be sure.
			changed = "a file"
			quiet.Reset(settled)
		case <-quiet.C:
			if changed != "" {
				return changed
			}
		}
	}
}

// isManifest reports whether a path may be that of a suite, of a manifest or of a directory.
func isManifest(path string) bool {
	return filepath.Ext(path) == "" || manifest.IsFile(path)
}

// isOutput reports whether a path is the file that results are written to.
func isOutput(path string, w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	output, err := file.Stat()
	if err != nil {
		return false
	}
	changed, err := os.Stat(path)
	return err == nil && os.SameFile(output, changed)
}
