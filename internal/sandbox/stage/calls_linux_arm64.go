package stage

// arch is the processor's number in <linux/audit.h>; the filter knows no other.
const arch = 0xc00000b7

// foreignCalls is where numbers of another ABI would begin; there is none.
const foreignCalls = 0x40000000

// Calls by their numbers here.
const (
	sysSeccomp = 277
	sysStatx   = 291

	callClone  = 220
	callClone3 = 435
	callSocket = 198
	callIoctl  = 29

	callOpenat2   = 437
	callSetrlimit = 164
	callPrlimit   = 261
)

var (
	modeCalls = [...]modeCall{
		{52, atSecond}, // fchmod
		{53, atThird},  // fchmodat
		{452, atThird}, // fchmodat2
		{33, atThird},  // mknodat
	}
	openCalls = [...]openCall{{56, atThird, atFourth}} // openat
)

// denied are the calls that no command makes, by their numbers here.
var denied = [...]uint32{
	117, // ptrace
	270, // process_vm_readv
	271, // process_vm_writev
	272, // kcmp
	438, // pidfd_getfd
	425, // io_uring_setup
	426, // io_uring_enter
	427, // io_uring_register
	217, // add_key
	218, // request_key
	219, // keyctl
	280, // bpf
	241, // perf_event_open
	282, // userfaultfd
	40,  // mount
	39,  // umount2
	41,  // pivot_root
	97,  // unshare
	268, // setns
	428, // open_tree
	429, // move_mount
	430, // fsopen
	431, // fsconfig
	432, // fsmount
	433, // fspick
	442, // mount_setattr
	467, // open_tree_attr
	51,  // chroot
	265, // open_by_handle_at
	264, // name_to_handle_at
	104, // kexec_load
	294, // kexec_file_load
	105, // init_module
	273, // finit_module
	106, // delete_module
	89,  // acct
	224, // swapon
	225, // swapoff
	60,  // quotactl
	443, // quotactl_fd
	116, // syslog
	18,  // lookup_dcookie
}
