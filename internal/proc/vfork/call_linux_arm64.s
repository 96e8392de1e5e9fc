#include "textflag.h"

// func cloneCall(flags uintptr) (pid, errno uintptr)
//
// The child returns first, on this very stack. The place to return to is in the link
// register, which each of the two has for itself.
TEXT ·cloneCall(SB), NOSPLIT|NOFRAME, $0-24
	MOVD	flags+0(FP), R0
	MOVD	ZR, R1	// the parent's stack
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	$220, R8	// clone
	SVC
	CMN	$4095, R0
	BCC	ok
	NEG	R0, R0
	MOVD	ZR, pid+8(FP)
	MOVD	R0, errno+16(FP)
	RET

ok:
	MOVD	R0, pid+8(FP)
	MOVD	ZR, errno+16(FP)
	RET
