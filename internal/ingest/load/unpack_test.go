package load

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// skipped draws frames of zstd that decoders skip, none for other compressions.
func skipped(r *rapid.T, suffix string) string {
	if suffix != ".zst" {
		return ""
	}
	var b []byte
	for range rapid.IntRange(0, 2).Draw(r, "frames") {
		content := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(r, "skipped")
		b = append(b, 0x50+rapid.Byte().Draw(r, "frame")%16, 0x2a, 0x4d, 0x18)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		b = append(b, content...)
	}
	return string(b)
}

// TestCompressedTextLoadsLikeUncompressedText loads tables uncompressed and compressed, in one and
// in two members, and compares the digests or the errors.
func TestCompressedTextLoadsLikeUncompressedText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		b.WriteString("a\tb\n")
		for i := range rapid.IntRange(1, 300).Draw(r, "rows") {
			fmt.Fprintf(&b, "%d\t%s\n", i, loadtest.Number.Draw(r, "number"))
		}
		text := b.String()
		cut := rapid.IntRange(0, len(text)).Draw(r, "cut")
		block := rapid.Int64Range(1, 500).Draw(r, "block")
		want, _, wantErr := loadInBlocks(t,
			option.Options{Sources: []string{loadtest.File(t, "x.tsv", text)}}, block)
		for _, suffix := range []string{".gz", ".zst"} {
			// The name determines the delimiter, and the content the compression.
			path := loadtest.File(t, "x.tsv"+rapid.SampledFrom([]string{suffix, ""}).Draw(r,
				"suffix"), skipped(r, suffix)+loadtest.Compressed(t, suffix, text[:cut])+
				skipped(r, suffix)+loadtest.Compressed(t, suffix, text[cut:])+skipped(r, suffix))
			got, _, err := loadInBlocks(t, option.Options{Sources: []string{path}}, block)
			if wantErr != nil || err != nil {
				if wantErr == nil || err == nil ||
					strings.Replace(err.Error(), path, "",
						1) != wantErr.Error()[strings.Index(wantErr.Error(), "x.tsv")+5:] {
					r.Fatalf("%s: %v, uncompressed %v", suffix, err, wantErr)
				}
				continue
			}
			if got.Digest != want.Digest {
				r.Fatalf("%s: digest %s, want %s", suffix, got.Digest, want.Digest)
			}
		}
	})
}

func TestInvalidCompressedTextIsRefused(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 1000) + "3,x\n"
	for _, suffix := range []string{".gz", ".zst"} {
		good := loadtest.Compressed(t, suffix, text)
		trailer := map[string]int{".gz": 8, ".zst": 4}[suffix]
		for _, c := range []struct{ name, text, want, hint string }{
			{"bad cell", good, `, row 1001 (line 1002), column "b": "x" is not a number`, ""},
			{"truncated", good[:len(good)-3], "is cut off: its ", "damaged"},
			{"nothing but the magic", good[:4], "is cut off: its ", "damaged"},
			{"checksum", good[:len(good)-trailer] + "\x01\x02\x03\x04" + good[len(good)-trailer+4:],
				"cannot be decompressed as ", "damaged"},
			{"more after it", good + "more after the end",
				map[string]string{".gz": "other bytes follow",
					".zst": "cannot be decompressed as "}[suffix], ""},
			{"empty", loadtest.Compressed(t, suffix, ""),
				"holds nothing when it is decompressed", ""},
			{"twice", loadtest.Compressed(t, suffix, good), "is compressed twice",
				"decompress it first"},
			{"nothing but frames to skip", "\x5f\x2a\x4d\x18\x01\x00\x00\x00x",
				"holds nothing when it is decompressed", ""},
			{"Parquet", loadtest.Compressed(t, suffix, "PAR1xxxxxxxxPAR1"),
				"is a compressed Parquet file, but only " + files.CompressedNames() +
					" are read compressed",
				"decompress it first"},
			{"binary", loadtest.Compressed(t, suffix, "a\x00b"), "is a binary file", ""},
		} {
			t.Run(c.name+suffix, func(t *testing.T) {
				path := loadtest.File(t, "x.csv"+suffix, c.text)
				_, dir, err := loadInProcess(t, option.Options{Sources: []string{path}})
				loadtest.Refused(t, err, c.want, c.hint)
				if err != nil && !strings.HasPrefix(err.Error(), path) {
					t.Errorf("%v does not begin with the file", err)
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("%v was left behind", left)
				}
			})
		}
	}
}

// TestErrorsOfBytesAfterGzipData writes other bytes, complete gzip data and truncated gzip data
// after gzip data. The error must tell other bytes from truncated data.
func TestErrorsOfBytesAfterGzipData(t *testing.T) {
	good := loadtest.Compressed(t, ".gz", "a,b\n1,2\n")
	for _, c := range []struct{ after, want, hint string }{
		{"j", "other bytes follow its gzip data", "decompress it first with gunzip"},
		{"\x1fj", "other bytes follow its gzip data", "if the rest is sound"},
		{"much longer than the head of gzip data", "other bytes follow its gzip data", "gunzip"},
		{strings.Repeat("\x00", 512), "other bytes follow its gzip data", "gunzip"},
		{good[:1], "is cut off: its gzip data does not end", "damaged"},
		{good[:5], "is cut off: its gzip data does not end", "damaged"},
		{good[:len(good)-1], "is cut off: its gzip data does not end", "damaged"},
		{good + "j", "other bytes follow its gzip data", "gunzip"},
	} {
		_, _, err := loadInProcess(t,
			option.Options{Sources: []string{loadtest.File(t, "x.csv.gz", good+c.after)}})
		loadtest.Refused(t, err, c.want, c.hint)
	}
}

// TestDamagedCompressedTextIsRefusedOrUnchanged truncates compressed files at every byte and
// changes a bit of every byte. Both formats have checksums of the content.
func TestDamagedCompressedTextIsRefusedOrUnchanged(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2.5\n-3,4e5\n", 50)
	for _, suffix := range []string{".gz", ".zst"} {
		want, _, err := loadInProcess(t,
			option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}})
		if err != nil {
			t.Fatal(err)
		}
		good := loadtest.Compressed(t, suffix, text)
		for i := range len(good) {
			flipped := []byte(good)
			flipped[i] ^= 1 << (i % 8)
			for _, damaged := range []string{good[:i], string(flipped)} {
				got, _, err := loadInProcess(t,
					option.Options{Sources: []string{loadtest.File(t, "x.csv"+suffix, damaged)}})
				if err == nil && got.Digest != want.Digest {
					t.Errorf("%s, byte %d: digest %s, want %s", suffix, i, got.Digest, want.Digest)
				}
			}
		}
	}
}

func TestADecompressionBombIsRefused(t *testing.T) {
	text := "a,b\n" + strings.Repeat("0,0\n", 1<<20)
	for _, suffix := range []string{".gz", ".zst"} {
		path := loadtest.File(t, "x.csv"+suffix, loadtest.Compressed(t, suffix, text))
		dir := t.TempDir()
		l := newLoad(dir, option.Options{Sources: []string{path}}, &progress.Meter{})
		l.Free = 1 << 20
		_, err := l.run(t.Context())
		loadtest.Refused(t, err, ": holds more than ", "decompress it first if it is sound")
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%v was left behind", left)
		}
	}
}
