package loadtest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// NPY returns a .npy file of version 1, as np.save writes it. descr and shape are Python literals,
// and order is the byte order of the values.
func NPY(descr, shape string, fortran bool, order binary.ByteOrder, values any) string {
	pythonBool := map[bool]string{true: "True", false: "False"}[fortran]
	if !strings.HasPrefix(descr, "[") {
		descr = "'" + descr + "'"
	}
	header := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
		pythonBool, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	if err := binary.Write(&b, order, values); err != nil {
		panic(err)
	}
	return b.String()
}

// NPZ returns a zip archive of the files, which are sorted by name and compressed with method.
func NPZ(t *testing.T, method uint16, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
