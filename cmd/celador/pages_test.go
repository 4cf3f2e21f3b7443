// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"celador.io/celador/test/e2e/conformance/process"
)

// TestPages executes the commands of the README and of all pages of the documentation in the order
// in which docs/README.md lists the pages, in one directory and on the data of one server, as a new
// user does.
//
// A block of commands is executed if it begins with a program of this repository or writes a file
// for it. Blocks that begin with kubectl or celador are for any cluster. A line that begins with "$
// " is a command and the lines below it are what it prints. A block without such lines prints the
// next block of the section that is not one of commands. A command fails only if the page shows
// what it prints.
func TestPages(t *testing.T) {
	u := newReader(t)
	executed := 0
	for _, path := range readingOrder(t) {
		text, err := os.ReadFile(filepath.Join("../../docs", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, walk := range walks(string(text)) {
			for _, command := range walk.commands {
				executed++
				output, err := u.execute(t, command.text)
				if err != nil && command.output == "" {
					t.Fatalf("%s:%d: %s\n%v:\n%s", path, walk.line, command.text, err, output)
				}
				if err := shows(output, command.output); err != nil {
					t.Errorf("%s:%d: %s\n%v in the output:\n%s", path, walk.line, command.text, err, output)
				}
			}
		}
	}
	if executed < 40 {
		t.Errorf("the pages have only %d commands", executed)
	}
}

// readingOrder returns the paths of the pages, relative to docs.
func readingOrder(t *testing.T) []string {
	t.Helper()
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"../README.md"}
	for _, found := range regexp.MustCompile(`(?m)^\| \[[^]]*\]\(([^)]*\.md)\)`).FindAllStringSubmatch(string(index), -1) {
		paths = append(paths, found[1])
	}
	if len(paths) < 20 {
		t.Fatalf("found only the pages %q", paths)
	}
	return paths
}

// A walk is a block of commands.
type walk struct {
	line     int
	commands []command
}

// A command is one command of a shell, with its here-documents and continuations.
type command struct {
	text string
	// output is what the page shows of the output, or empty.
	output string
}

var (
	// begins matches the first line of a block of commands that are executed.
	begins = regexp.MustCompile(`^(\$ )?(bin/celador |bin/orders-apiserver |make demo$|cat > |mkdir )`)
	// document matches the beginning of a here-document.
	document = regexp.MustCompile(`<<'?EOF'?$`)
)

// walks returns the blocks of commands of a page.
func walks(page string) (found []walk) {
	// waits is the last block, while it still can get an output.
	var waits *walk
	for _, b := range blocks(page) {
		switch {
		case b.section:
			waits = nil
		case begins.MatchString(b.text):
			walk := walk{line: b.line, commands: commands(b.text)}
			found = append(found, walk)
			waits = nil
			if !strings.HasPrefix(b.text, "$ ") {
				waits = &found[len(found)-1]
			}
		case waits != nil:
			last := &waits.commands[len(waits.commands)-1]
			last.output, waits = b.text, nil
		}
	}
	return found
}

// A block is an indented or fenced block of a page, or the heading of a section.
type block struct {
	line    int
	text    string
	section bool
}

// blocks returns the blocks of a page that can have commands or outputs, and the headings.
func blocks(page string) (found []block) {
	lines := strings.Split(page, "\n")
	indented := func(at int) bool { return at < len(lines) && strings.HasPrefix(lines[at], "    ") }
	for at := 0; at < len(lines); at++ {
		begin := at
		var text []string
		switch {
		case strings.HasPrefix(lines[at], "#"):
			found = append(found, block{section: true})
			continue
		case strings.HasPrefix(lines[at], "```"):
			for at++; at < len(lines) && lines[at] != "```"; at++ {
				text = append(text, lines[at])
			}
			if lines[begin] != "```sh" {
				continue // a file
			}
		case indented(at) && (at == 0 || lines[at-1] == ""):
			for ; indented(at) || indented(at+1) && lines[at] == ""; at++ {
				text = append(text, strings.TrimPrefix(lines[at], "    "))
			}
		default:
			continue
		}
		found = append(found, block{line: begin + 1, text: strings.Join(text, "\n")})
	}
	return found
}

// commands splits a block.
func commands(text string) (found []command) {
	prompts := strings.HasPrefix(text, "$ ")
	var open *command // continues with the next line
	inDocument := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case open != nil:
			open.text += "\n" + line
		case prompts && !strings.HasPrefix(line, "$ "):
			last := &found[len(found)-1]
			last.output += line + "\n"
			continue
		case line == "":
			continue
		default:
			found = append(found, command{text: strings.TrimPrefix(line, "$ ")})
			open = &found[len(found)-1]
		}
		inDocument = document.MatchString(line) || inDocument && line != "EOF"
		if !inDocument && !strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, "|") {
			open = nil
		}
	}
	return found
}

// shows returns an error unless the output has the lines of want in their order. White space, ports
// and ages do not matter, "..." stands for any text, and want may wrap lines and omit some.
func shows(output, want string) error {
	rest := " " + plain(output) + " "
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		parts := strings.Split(strings.ReplaceAll(line, "…", "..."), "...")
		for _, part := range parts {
			part = plain(part)
			if len(parts) == 1 && part != "" {
				part = " " + part + " " // not a part of a word
			}
			at := strings.Index(rest, part)
			if at < 0 {
				return fmt.Errorf("%q is not", line)
			}
			rest = " " + rest[at+len(part):]
		}
	}
	return nil
}

var (
	age  = regexp.MustCompile(`(?m)\s([0-9]+[smhd])+$`)
	port = regexp.MustCompile(`127\.0\.0\.1:[0-9]+/`)
)

// plain returns text with single spaces, without ports and without ages in the last column of
// tables.
func plain(text string) string {
	text = age.ReplaceAllString(strings.TrimRight(text, " \n"), " AGE")
	return oneLine(port.ReplaceAllString(text, "127.0.0.1:PORT/"))
}

// A reader follows the pages in a directory like the root of the repository.
type reader struct {
	directory   string
	environment []string
	// server is what runs in the reader's other terminal.
	server *served
	// started is the command that started the server.
	started string
}

// newReader returns a reader whose bin/celador is this program. Its servers listen on free ports.
func newReader(t *testing.T) *reader {
	t.Helper()
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	u := &reader{directory: t.TempDir(), environment: celador(t, "").Env}
	ordersPort := u.copyExamples(t)
	for _, name := range []string{"hack", "Makefile"} {
		target, err := filepath.Abs("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(u.directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(u.directory, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
case "$1" in
serve) shift; set -- serve --secure-port 0 "$@" ;;
playground) shift; set -- playground --port 0 "$@" ;;
esac
exec '` + program + `' "$@"
`
	orders := fmt.Sprintf(`#!/bin/sh
%s=1 exec '%s' "$@" --secure-port=%d --permit-port-sharing
`, asOrders, program, ordersPort)
	for name, script := range map[string]string{"celador": script, "orders-apiserver": orders} {
		if err := os.WriteFile(filepath.Join(u.directory, "bin", name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// copyExamples copies the examples, so that the aggregated API server can have the port that it
// returns.
func (u *reader) copyExamples(t *testing.T) (ordersPort int) {
	t.Helper()
	examples := filepath.Join(u.directory, "examples")
	if err := os.CopyFS(examples, os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	port, release, err := process.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	path := filepath.Join(examples, "aggregated-apiserver", "deploy", "apiservice.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), "port: 8443", fmt.Sprint("port: ", port))
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return port
}

// execute executes a command and returns its output and its error. celador serve keeps running
// until a command starts it with other flags, and a command that starts it with the same flags
// again does nothing. The aggregated API server keeps running until the end of the test.
func (u *reader) execute(t *testing.T, command string) (string, error) {
	t.Helper()
	switch {
	case strings.HasPrefix(command, "bin/celador serve"):
		if command, _, _ = strings.Cut(command, " #"); u.started == strings.TrimSpace(command) {
			return "", nil
		}
		u.interrupt(t, u.server)
		u.server, u.started = start(t, u.shell("exec "+command), "try: "), strings.TrimSpace(command)
		return "", nil
	case strings.HasPrefix(command, "bin/orders-apiserver"):
		launch(t, u.shell("exec "+command))
		return "", nil
	case strings.HasPrefix(command, "bin/celador playground"):
		playground := start(t, u.shell("exec "+command), "")
		defer u.interrupt(t, playground)
		return playground.lines.Text(), nil
	}
	output, err := u.shell(command).CombinedOutput()
	return string(output), err
}

// shell returns a process that executes a command. Make does not build bin/celador.
func (u *reader) shell(command string) *exec.Cmd {
	process := exec.Command("bash", "-o", "pipefail", "-c", "make() { command make -o build \"$@\"; }\n"+command)
	process.Dir, process.Env = u.directory, u.environment
	return process
}

// interrupt ends a process as Ctrl-C does.
func (u *reader) interrupt(t *testing.T, process *served) {
	t.Helper()
	if process == nil {
		return
	}
	process.signal(t, os.Interrupt)
	if code := process.wait(t); code != 0 {
		t.Fatalf("exit code %d after an interrupt: %s", code, &process.stderr)
	}
}
