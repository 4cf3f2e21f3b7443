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

// ReadFile returns the content of a file of YAML or JSON in UTF-8. Like kubectl, it accepts UTF-16,
// with a byte order mark or without. Files in other encodings with null bytes are errors. Devices
// and named pipes are errors, because they may have no end; the pipes that a shell passes as
// /dev/fd/N are not.
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
	if data = UTF8(data); bytes.IndexByte(data, 0) >= 0 {
		return nil, fmt.Errorf("%s is not text in UTF-8 or UTF-16", file)
	}
	return data, nil
}

// isPassed reports whether a path is a file that the parent process opened.
func isPassed(file string) bool {
	return file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/self/fd/")
}

// UTF8 returns text without its byte order mark, in UTF-8 if it is UTF-16. Other text is returned
// as it is.
func UTF8(text []byte) []byte {
	order := utf16Order(text)
	if order == nil {
		return bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"))
}

// utf16Order returns the byte order of UTF-16, or nil for other text. YAML and JSON begin with a
// byte order mark or an ASCII character.
func utf16Order(text []byte) binary.ByteOrder {
	if len(text) < 2 {
		return nil
	}
	switch first, second := text[0], text[1]; {
	case first == 0xff && second == 0xfe, first != 0 && second == 0:
		return binary.LittleEndian
	case first == 0xfe && second == 0xff, first == 0 && second != 0:
		return binary.BigEndian
	}
	return nil
}
