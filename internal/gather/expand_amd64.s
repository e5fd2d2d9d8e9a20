#include "textflag.h"

// The bit of each of eight values in a byte.
DATA bitOfValue<>+0(SB)/8, $0x0000000200000001
DATA bitOfValue<>+8(SB)/8, $0x0000000800000004
DATA bitOfValue<>+16(SB)/8, $0x0000002000000010
DATA bitOfValue<>+24(SB)/8, $0x0000008000000040
GLOBL bitOfValue<>(SB), RODATA|NOPTR, $32

DATA one<>+0(SB)/4, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $4

// func writeUnset8(dst unsafe.Pointer, step int64, bits unsafe.Pointer, n int64)
TEXT ·writeUnset8(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         step+8(FP), DX
	MOVQ         bits+16(FP), SI
	MOVQ         n+24(FP), CX
	VMOVDQU      bitOfValue<>(SB), Y1
	VBROADCASTSS one<>(SB), Y2
	VPXOR        Y3, Y3, Y3

next:
	VPBROADCASTB (SI), Y0
	VPAND        Y1, Y0, Y0
	VPCMPEQD     Y3, Y0, Y0
	VPAND        Y2, Y0, Y0
	VMOVDQU      Y0, (DI)
	ADDQ         DX, DI
	INCQ         SI
	DECQ         CX
	JGT          next
	VZEROUPPER
	RET
