package stage

// arch is the processor's number in <linux/audit.h>; the filter knows no other.
const arch = 0xc000003e

// foreignCalls is where the numbers of another ABI (x32) begin.
const foreignCalls = 0x40000000

// Calls by their numbers here.
const (
	sysSeccomp = 317
	sysStatx   = 332

	callClone  = 56
	callClone3 = 435
	callSocket = 41
	callIoctl  = 16

	callOpenat2   = 437
	callSetrlimit = 160
	callPrlimit   = 302
)

var (
	modeCalls = [...]modeCall{
		{90, atSecond},  // chmod
		{91, atSecond},  // fchmod
		{268, atThird},  // fchmodat
		{452, atThird},  // fchmodat2
		{133, atSecond}, // mknod
		{259, atThird},  // mknodat
		{85, atSecond},  // creat
	}
	openCalls = [...]openCall{
		{257, atThird, atFourth}, // openat
		{2, atSecond, atThird},   // open
	}
)

// denied are the calls that no command makes, by their numbers here.
var denied = [...]uint32{
	101, // ptrace
	310, // process_vm_readv
	311, // process_vm_writev
	312, // kcmp
	438, // pidfd_getfd
	425, // io_uring_setup
	426, // io_uring_enter
	427, // io_uring_register
	248, // add_key
	249, // request_key
	250, // keyctl
	321, // bpf
	298, // perf_event_open
	323, // userfaultfd
	165, // mount
	166, // umount2
	155, // pivot_root
	272, // unshare
	308, // setns
	428, // open_tree
	429, // move_mount
	430, // fsopen
	431, // fsconfig
	432, // fsmount
	433, // fspick
	442, // mount_setattr
	467, // open_tree_attr
	161, // chroot
	304, // open_by_handle_at
	303, // name_to_handle_at
	246, // kexec_load
	320, // kexec_file_load
	175, // init_module
	313, // finit_module
	176, // delete_module
	163, // acct
	167, // swapon
	168, // swapoff
	179, // quotactl
	443, // quotactl_fd
	103, // syslog
	212, // lookup_dcookie
}
