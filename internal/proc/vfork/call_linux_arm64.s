#include "textflag.h"

// func cloneCall(trap, a1, a2 uintptr) (pid, errno uintptr)
//
// The child returns first, on this very stack. The place to return to is in the link
// register, which each of the two has for itself.
TEXT ·cloneCall(SB), NOSPLIT|NOFRAME, $0-40
	MOVD	trap+0(FP), R8
	MOVD	a1+8(FP), R0
	MOVD	a2+16(FP), R1
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	SVC
	CMN	$4095, R0
	BCC	ok
	NEG	R0, R0
	MOVD	ZR, pid+24(FP)
	MOVD	R0, errno+32(FP)
	RET

ok:
	MOVD	R0, pid+24(FP)
	MOVD	ZR, errno+32(FP)
	RET
