// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf16"
)

// maxFile is the maximum size of a file.
const maxFile = 1 << 30

// ReadFile returns the content of a file of YAML or JSON in UTF-8. Like kubectl, it accepts UTF-16 with a byte order mark. Devices and named pipes are
// errors, because they may have no end; the pipes that a shell passes as /dev/fd/N are not.
func ReadFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	var located *fs.PathError
	if errors.As(err, &located) {
		return nil, &fs.PathError{Op: "open", Path: located.Path, Err: located.Err}
	} else if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory, want a file", file)
	case !mode.IsRegular() && !(mode.Type() == fs.ModeNamedPipe && isPassed(file)):
		return nil, fmt.Errorf("%s is a device, pipe or socket, want a file", file)
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	return UTF8(data), nil
}

// isPassed reports whether a path is a file that the parent process opened.
func isPassed(file string) bool {
	return file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/self/fd/")
}

// UTF8 returns text without its byte order mark, in UTF-8 if the mark is one of UTF-16. Text without a mark is returned as it is.
func UTF8(text []byte) []byte {
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if rest, found := bytes.CutPrefix(text, []byte(mark)); found {
			units := make([]uint16, len(rest)/2)
			for i := range units {
				units[i] = order.Uint16(rest[2*i:])
			}
			return []byte(string(utf16.Decode(units)))
		}
	}
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}
