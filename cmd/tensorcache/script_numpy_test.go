package main

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeNPY writes an array of four rows as np.save does.
func writeNPY(w io.Writer, descr, shape string, values any) error {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	_, err := fmt.Fprintf(w, "\x93NUMPY\x01\x00%c\x00%s", len(header), header)
	return errors.Join(err, binary.Write(w, binary.LittleEndian, values))
}

// npz is the command npz FILE, which writes an archive of two arrays of four rows: a of shape [4]
// and b of shape [4, 2].
func npz(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	z := zip.NewWriter(f)
	a, err := z.Create("a.npy")
	ts.Check(err)
	ts.Check(writeNPY(a, "<f4", "(4,)", []float32{1, 2, 3, 4}))
	b, err := z.Create("b.npy")
	ts.Check(err)
	ts.Check(writeNPY(b, "<i8", "(4, 2)", make([]int64, 8)))
	ts.Check(errors.Join(z.Close(), f.Close()))
}

// npy is the command npy FILE, which writes an array of shape [4, 2].
func npy(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(writeNPY(f, "<f8", "(4, 2)", make([]float64, 8)), f.Close()))
}
