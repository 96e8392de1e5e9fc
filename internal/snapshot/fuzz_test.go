package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/workspace"
)

func FuzzTree(f *testing.F) {
	f.Add(appendEntry(appendEntry(nil, treeEntry{modeFile, "a", id{1}}), treeEntry{modeFolder, "b", id{2}}))
	f.Add([]byte("40000 ..\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			if !filepath.IsLocal(e.name) || strings.Contains(e.name, "/") || e.name == ".git" {
				t.Errorf("the name %q came through", e.name)
			}
			again = appendEntry(again, e)
		}
		if parsed, err := parseTree(again); err != nil || len(parsed) != len(entries) {
			t.Errorf("written again: %v", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest([]entry{{path: "a\nb", mode: 0o100600}, {path: "d/", mode: modeFolder | 0o700}}, []LeftOut{{"x.o", Ignored}}))
	f.Add([]byte(manifestHead + "d 644 755 755\x00m 600 f\x00x i d/\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		for path, mode := range m.modes {
			if path == "" || mode > permMask {
				t.Errorf("%q has the mode %o", path, mode)
			}
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(encodeIndex(&index{top: id{7}, left: []LeftOut{{"b.o", Ignored}}, entries: []cached{
		{entry: entry{path: "a", mode: 0o100644, id: id{1}}, stamp: workspace.Stamp{Size: 1, Modified: -1, Changed: 1 << 62, Inode: 9}},
		{entry: entry{path: "d/", mode: modeFolder | 0o755}}, {entry: entry{path: "d/x", mode: 0o100600}, racy: true},
	}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		// As it comes, and with a checksum that lets it through.
		sealed := binary.LittleEndian.AppendUint32(bytes.Clone(data), crc32.Checksum(data, castagnoli()))
		for _, raw := range [][]byte{data, sealed} {
			x, err := parseIndex(raw)
			if err != nil {
				if !errors.Is(err, errCorrupt) {
					t.Error(err)
				}
				continue
			}
			again, err := parseIndex(encodeIndex(x))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x, again, cmp.AllowUnexported(index{}, cached{}, entry{})); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func FuzzPacked(f *testing.F) {
	var d deflater
	raw, err := d.object(kindBlob, []byte("contents"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(raw))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, contents, err := readPacked(bytes.NewReader(data))
		if err == nil && (k != kindBlob && k != kindTree || len(contents) > maxObject) {
			t.Errorf("%v of %d bytes", k, len(contents))
		}
	})
}

func FuzzPackIndex(f *testing.F) {
	f.Add(encodeIdx([]packed{{id: id{1}, offset: 12}, {id: id{200}, offset: 1 << 33}}, id{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		count, err := parseIdx(data)
		if err != nil {
			return
		}
		p := &pack{idx: data, count: count}
		for i := range count {
			p.offsetAt(i)
			p.find(id(p.idAt(i)))
		}
	})
}

func FuzzPointsAndPlan(f *testing.F) {
	f.Add([]byte(`{"version":1,"points":[{"name":"a","top":"` + strings.Repeat("00", 32) + `"}]}`))
	f.Add([]byte(`{"version":1,"point":"a","target":"` + strings.Repeat("00", 32) + `","now":"` + strings.Repeat("11", 32) + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, err := range []error{parsePointsError(data), parsePlanError(data)} {
			if err != nil && !errors.Is(err, errCorrupt) {
				t.Error(err)
			}
		}
	})
}

func parsePointsError(data []byte) error { _, err := parsePoints(data); return err }
func parsePlanError(data []byte) error   { _, err := parsePlan(data); return err }
