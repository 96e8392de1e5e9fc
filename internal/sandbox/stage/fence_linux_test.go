package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestAFenceIsReadAsItWasWritten(t *testing.T) {
	text := rapid.StringMatching(`[^\x00]{0,8}`)
	path := rapid.StringMatching(`/[a-z]{1,4}(/[a-z.]{2}x){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		f := &Fence{
			Policy: Policy{
				Argv: rapid.SliceOfN(text, 1, 3).Draw(t, "argv"), Env: rapid.SliceOfN(text, 1, 3).Draw(t, "env"), Dir: path.Draw(t, "dir"),
				FullNetwork: rapid.Bool().Draw(t, "full"), Processes: rapid.Uint64().Draw(t, "processes"),
			},
			HandledFiles: rapid.Uint64Min(1).Draw(t, "handled"), Scoped: rapid.Uint64().Draw(t, "scoped"),
			Ports: rapid.SliceOfN(rapid.Uint16(), 1, 3).Draw(t, "ports"),
		}
		for range rapid.IntRange(1, 3).Draw(t, "files") {
			f.Files = append(f.Files, FenceFile{path.Draw(t, "path"), rapid.Uint64().Draw(t, "access")})
		}
		b, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeFence(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f, got); diff != "" {
			t.Fatal(diff)
		}
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); true {
			if _, err := decodeFence(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes were enough", cut, len(b))
			}
		}
		if _, err := decodeFence(append(b, 0)); err == nil {
			t.Fatal("a byte too many was taken")
		}
	})
}

func FuzzDecodeFence(f *testing.F) {
	good, err := (&Fence{Policy: Policy{Argv: []string{"a"}, Dir: "/"}, HandledFiles: 1, Files: []FenceFile{{"/x", 1}}}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		fence, err := decodeFence(b)
		if err != nil {
			return
		}
		if again, err := fence.Encode(); err != nil || string(again) != string(b) {
			t.Fatalf("read from %q, written as %q, %v", b, again, err)
		}
	})
}

func TestNumbersOfTheFence(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"kill", callKill, unix.SYS_KILL}, {"prlimit64", callPrlimit, unix.SYS_PRLIMIT64}, {"listen", callListen, unix.SYS_LISTEN},
		{"sendto", callSendto, unix.SYS_SENDTO}, {"sendmsg", callSendmsg, unix.SYS_SENDMSG}, {"sendmmsg", callSendmmsg, unix.SYS_SENDMMSG},
		{"create", sysCreateRuleset, unix.SYS_LANDLOCK_CREATE_RULESET}, {"add", sysAddRule, unix.SYS_LANDLOCK_ADD_RULE},
		{"restrict", sysRestrictSelf, unix.SYS_LANDLOCK_RESTRICT_SELF}, {"MSG_FASTOPEN", fastOpen, unix.MSG_FASTOPEN},
		{"IPPROTO_TCP", protocolTCP, unix.IPPROTO_TCP}, {"net", handledTCP, unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{"connect", connectTCP, unix.LANDLOCK_ACCESS_NET_CONNECT_TCP}, {"beneath", ruleFiles, unix.LANDLOCK_RULE_PATH_BENEATH},
		{"file rights", forFiles, unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
			unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	want := []uint32{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK}
	if diff := cmp.Diff(want, fenced[:]); diff != "" {
		t.Error(diff)
	}
}
