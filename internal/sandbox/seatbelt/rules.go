package seatbelt

// reading is what may be done with something readable: read it, look at it, and
// load it as code.
const reading = "file-read* file-test-existence file-map-executable"

// head is what every program needs, whatever the view. The names of operations
// and filters are those of Apple's own profiles in /System/Library/Sandbox.
const head = `(version 1)
(deny default)

; Its own processes, and nobody else's.
(allow process-exec process-fork)
(allow process-info* signal (target same-sandbox))

; Facts about the machine. Not kern.proc*: it gives away what other processes
; were started with.
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.boottime")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.iossupportversion")
  (sysctl-name "kern.maxfiles")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.maxprocperuid")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osproductversioncompat")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.tcsm_available")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "security.mac.lockdown_mode_state")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg"))

; Names of users and groups, and the log. Not trustd, which fetches what a
; certificate names: a way out past the network's rules.
(allow mach-lookup
  (global-name "com.apple.system.DirectoryService.libinfo_v1")
  (global-name "com.apple.system.DirectoryService.membership_v1")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.logd"))
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
(allow ipc-posix-sem)

; The system: sealed, or readable by everybody.
(allow file-read-metadata file-read-data file-test-existence (literal "/"))
(allow file-read-metadata file-test-existence
  (literal "/Applications")
  (literal "/Library")
  (literal "/Library/Developer")
  (literal "/dev")
  (literal "/etc")
  (literal "/private")
  (literal "/private/etc")
  (literal "/private/var")
  (literal "/private/var/db")
  (literal "/private/var/select")
  (literal "/tmp")
  (literal "/usr")
  (literal "/var"))
(allow ` + reading + `
  (subpath "/Applications/Xcode.app/Contents/Developer")
  (subpath "/Library/Apple")
  (subpath "/Library/Developer/CommandLineTools")
  (subpath "/System/Cryptexes")
  (subpath "/System/Library")
  (subpath "/System/Volumes/Preboot/Cryptexes")
  (subpath "/bin")
  (subpath "/private/var/db/dyld")
  (subpath "/private/var/db/timezone")
  (subpath "/private/var/select")
  (subpath "/sbin")
  (subpath "/usr/bin")
  (subpath "/usr/lib")
  (subpath "/usr/libexec")
  (subpath "/usr/sbin")
  (subpath "/usr/share")
  (literal "/private/etc/localtime")
  (literal "/private/var/db/xcode_select_link"))

; Devices that hold nothing of anybody's. Not the terminal.
(allow file-read* file-test-existence file-write-data file-ioctl
  (literal "/dev/dtracehelper")
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (subpath "/dev/fd"))
`

// fullNetwork leaves the machine's network as it is.
const fullNetwork = `; The network as it is.
(allow network*)
(allow system-socket)
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))`

// tail is what holds whatever was allowed above. A hard link or a clone would be
// a second name, by which the rules do not know what it is.
const tail = `; Whatever was allowed above.
(deny file-link file-clone)
(deny lsopen appleevent-send)
(deny mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.securityd")
  (global-name "com.apple.securityd.xpc")
  (global-name "com.apple.secd")
  (global-name "com.apple.pasteboard.1")
  (global-name "com.apple.pboard"))`
