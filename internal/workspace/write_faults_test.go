package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"garuda/internal/testkit"
)

// faultyFolder is a folder on a disk that fails as it is told to. It notes what
// is done to the disk, in order.
type faultyFolder struct {
	folder
	faults testkit.FileFaults
	// noCreate, when set, is what making a file gives.
	noCreate error
	ops      *[]string
}

func (f *faultyFolder) sub(rel string) (folder, error) {
	sub, err := f.folder.sub(rel)
	if err != nil {
		return nil, err
	}
	next := *f
	next.folder = sub
	return &next, nil
}

func (f *faultyFolder) create(name string, perm fs.FileMode) (newFile, error) {
	if f.noCreate != nil {
		return nil, f.noCreate
	}
	created, err := f.folder.create(name, perm)
	if err != nil {
		return nil, err
	}
	real, ok := created.(*os.File)
	if !ok {
		return nil, errors.New("the file is none of the system's")
	}
	return notedFile{testkit.NewFile(real, f.faults), f.ops}, nil
}

func (f *faultyFolder) rename(from, to string) error {
	*f.ops = append(*f.ops, "rename")
	return f.folder.rename(from, to)
}

func (f *faultyFolder) link(from, to string) error {
	*f.ops = append(*f.ops, "link")
	return f.folder.link(from, to)
}

func (f *faultyFolder) sync() error {
	*f.ops = append(*f.ops, "sync folder")
	return f.folder.sync()
}

type notedFile struct {
	*testkit.File
	ops *[]string
}

func (f notedFile) Sync() error {
	*f.ops = append(*f.ops, "sync file")
	return f.File.Sync()
}

func (f notedFile) Close() error {
	*f.ops = append(*f.ops, "close file")
	return f.File.Close()
}

// onFaultyDisk opens a workspace with the file f on such a disk.
func onFaultyDisk(t *testing.T, faulty *faultyFolder) (*Workspace, string) {
	root := t.TempDir()
	write(t, filepath.Join(root, "f"), "old")
	w := openTest(t, root, Options{})
	faulty.folder, faulty.ops = w.mounts[0].dir, &[]string{}
	w.mounts[0].dir = faulty
	return w, root
}

// Whatever the disk does, a file holds its old text or its new one, nothing is
// left beside it, and the error says what it was.
func TestWriteFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		faulty faultyFolder
		want   error
	}{
		"full at once":       {faultyFolder{faults: testkit.FileFaults{Full: testkit.ErrFull}}, testkit.ErrFull},
		"full in the middle": {faultyFolder{faults: testkit.FileFaults{Full: testkit.ErrFull, Space: 2}}, testkit.ErrFull},
		"over the quota":     {faultyFolder{faults: testkit.FileFaults{Full: errQuota, Space: 1}}, errQuota},
		"a short write":      {faultyFolder{faults: testkit.FileFaults{ShortBy: 1}}, nil},
		"EIO at the sync":    {faultyFolder{faults: testkit.FileFaults{Sync: testkit.ErrIO}}, testkit.ErrIO},
		"EIO at the close":   {faultyFolder{faults: testkit.FileFaults{Close: testkit.ErrIO}}, testkit.ErrIO},
		"read-only disk":     {faultyFolder{noCreate: syscall.EROFS}, syscall.EROFS},
	} {
		t.Run(name, func(t *testing.T) {
			faulty := tt.faulty
			w, root := onFaultyDisk(t, &faulty)
			p := mustResolve(t, w, "f")
			_, replaceErr := w.Replace(p, p.Info, []byte("new text"))
			_, createErr := w.Create(mustResolve(t, w, "made"), []byte("new text"))
			for doing, err := range map[string]error{"replace": replaceErr, "create": createErr} {
				var pathErr *PathError
				if !errors.As(err, &pathErr) || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("%s: %v", doing, err)
				}
			}
			if got := readBack(t, filepath.Join(root, "f")); got != "old" {
				t.Errorf("the file holds %q", got)
			}
			entries, err := os.ReadDir(root)
			if err != nil || len(entries) != 1 {
				t.Errorf("left in the folder: %v, %v", entries, err)
			}
			w.mounts[0].dir = faulty.folder
		})
	}
}

// The text is safe before its name is, and the name before anyone is told.
func TestWriteOrder(t *testing.T) {
	faulty := &faultyFolder{}
	w, _ := onFaultyDisk(t, faulty)
	p := mustResolve(t, w, "f")
	if _, err := w.Replace(p, p.Info, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, want := *faulty.ops, []string{"sync file", "close file", "rename", "sync folder"}; !slices.Equal(got, want) {
		t.Errorf("replace: %v, want %v", got, want)
	}
	*faulty.ops = nil
	if _, err := w.Create(mustResolve(t, w, "a/b"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, want := *faulty.ops, []string{"sync folder", "sync file", "close file", "link", "sync folder"}; !slices.Equal(got, want) {
		t.Errorf("create in a new folder: %v, want %v", got, want)
	}
	w.mounts[0].dir = faulty.folder
}

func TestReplaceKeepsModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not kept as bits here")
	}
	for mode, note := range map[fs.FileMode]string{
		0o600: "", 0o755: "", 0o4711: "the file lost its setuid or setgid bit, as any file does that is written to",
		0o444: "the file was marked read-only (-r--r--r--) and still is", 0o200: "",
	} {
		root := t.TempDir()
		path := filepath.Join(root, "f")
		write(t, path, "old")
		if err := syscall.Chmod(path, uint32(mode)); err != nil {
			t.Fatal(err)
		}
		w := openTest(t, root, Options{})
		p := mustResolve(t, w, "f")
		out, err := w.Replace(p, p.Info, []byte("new"))
		if err != nil {
			t.Fatalf("%o: %v", mode, err)
		}
		want := []string{note}
		if note == "" {
			want = nil
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode() != mode&0o777 || !slices.Equal(out.Notes, want) {
			t.Errorf("%o: now %v, %v, notes %q", mode, fi.Mode(), err, out.Notes)
		}
	}
}
