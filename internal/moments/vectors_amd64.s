#include "textflag.h"

// Two registers of four lanes each: sums (Y0, Y1), squares (Y2, Y3), minima (Y4, Y5), maxima (Y6, Y7)
// and counts (Y8, Y9). Y15 is near, which is subtracted from each value.
#define LOAD_LANES \
	VMOVUPD 0(DI), Y0    \
	VMOVUPD 32(DI), Y1   \
	VMOVUPD 64(DI), Y2   \
	VMOVUPD 96(DI), Y3   \
	VMOVUPD 128(DI), Y4  \
	VMOVUPD 160(DI), Y5  \
	VMOVUPD 192(DI), Y6  \
	VMOVUPD 224(DI), Y7  \
	VMOVDQU 256(DI), Y8  \
	VMOVDQU 288(DI), Y9

#define STORE_LANES \
	VMOVUPD Y0, 0(DI)    \
	VMOVUPD Y1, 32(DI)   \
	VMOVUPD Y2, 64(DI)   \
	VMOVUPD Y3, 96(DI)   \
	VMOVUPD Y4, 128(DI)  \
	VMOVUPD Y5, 160(DI)  \
	VMOVUPD Y6, 192(DI)  \
	VMOVUPD Y7, 224(DI)  \
	VMOVDQU Y8, 256(DI)  \
	VMOVDQU Y9, 288(DI)  \
	VZEROUPPER

// Adds the values in Y10 and Y11. A NaN leaves minima and maxima unchanged. The mask of present values
// is -1 as an integer, so subtracting it counts them. It also sets the difference of a missing value
// to 0.
#define TAKE \
	VCMPPD     $7, Y10, Y10, Y12 \
	VCMPPD     $7, Y11, Y11, Y13 \
	VMINPD     Y4, Y10, Y4       \
	VMINPD     Y5, Y11, Y5       \
	VMAXPD     Y6, Y10, Y6       \
	VMAXPD     Y7, Y11, Y7       \
	VPSUBQ     Y12, Y8, Y8       \
	VPSUBQ     Y13, Y9, Y9       \
	VSUBPD     Y15, Y10, Y10     \
	VSUBPD     Y15, Y11, Y11     \
	VANDPD     Y12, Y10, Y10     \
	VANDPD     Y13, Y11, Y11     \
	VADDPD     Y10, Y0, Y0       \
	VADDPD     Y11, Y1, Y1       \
	VMULPD     Y10, Y10, Y10     \
	VMULPD     Y11, Y11, Y11     \
	VADDPD     Y10, Y2, Y2       \
	VADDPD     Y11, Y3, Y3

// Loads eight values at SI and advances SI.
#define LOAD64 \
	VMOVUPD 0(SI), Y10  \
	VMOVUPD 32(SI), Y11 \
	ADDQ    $64, SI

#define LOAD32 \
	VCVTPS2PD 0(SI), Y10  \
	VCVTPS2PD 16(SI), Y11 \
	ADDQ      $32, SI

#define SUM(LOAD) \
	MOVQ         l+0(FP), DI       \
	MOVQ         values+8(FP), SI  \
	MOVQ         n+16(FP), CX      \
	VBROADCASTSD near+24(FP), Y15  \
	LOAD_LANES                     \
loop:                              \
	LOAD                           \
	TAKE                           \
	SUBQ         $8, CX            \
	JNZ          loop              \
	STORE_LANES                    \
	RET

// Multiplies the differences in Y10 and Y11 by the inverse of the scale and corrects the products by
// their remainders.
#define QUOTIENTS \
	VMULPD       Y13, Y10, Y2         \
	VMULPD       Y13, Y11, Y3         \
	VFNMADD231PD Y14, Y2, Y10         \
	VFNMADD231PD Y14, Y3, Y11         \
	VFMADD213PD  Y2, Y13, Y10         \
	VFMADD213PD  Y3, Y13, Y11

// func sum64(l *laneSums, values *float64, n int, near float64)
TEXT ·sum64(SB), NOSPLIT, $0-32
	SUM(LOAD64)

// func sum32(l *laneSums, values *float32, n int, near float64)
TEXT ·sum32(SB), NOSPLIT, $0-32
	SUM(LOAD32)

// func scale64(to, from *float64, n int, s Scaling)
//
// Differences of a size from least to most are multiplied by the inverse of the scale, and the product
// is corrected by its remainder. The result is the quotient, rounded once, in a third of the time of a
// division. If least is 0, all differences are multiplied, without a comparison.
TEXT ·scale64(SB), NOSPLIT, $0-64
	MOVQ         to+0(FP), DI
	MOVQ         from+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD s_shift+24(FP), Y15
	VBROADCASTSD s_scale+32(FP), Y14
	VBROADCASTSD s_inverse+40(FP), Y13
	VBROADCASTSD s_least+48(FP), Y9
	VBROADCASTSD s_most+56(FP), Y8
	VPCMPEQQ     Y7, Y7, Y7
	VPSRLQ       $1, Y7, Y7
	CMPQ         s_least+48(FP), $0
	JEQ          sure

loop:
	LOAD64
	VSUBPD       Y15, Y10, Y10
	VSUBPD       Y15, Y11, Y11
	VANDPD       Y7, Y10, Y0
	VANDPD       Y7, Y11, Y1
	VCMPPD       $13, Y9, Y0, Y2
	VCMPPD       $13, Y9, Y1, Y3
	VCMPPD       $2, Y8, Y0, Y4
	VCMPPD       $2, Y8, Y1, Y5
	VANDPD       Y2, Y3, Y2
	VANDPD       Y4, Y5, Y4
	VANDPD       Y2, Y4, Y2
	VMOVMSKPD    Y2, AX
	CMPL         AX, $15
	JNE          divide
	QUOTIENTS
	JMP          store

divide:
	VDIVPD       Y14, Y10, Y10
	VDIVPD       Y14, Y11, Y11

store:
	VMOVUPD      Y10, 0(DI)
	VMOVUPD      Y11, 32(DI)
	ADDQ         $64, DI
	SUBQ         $8, CX
	JNZ          loop
	VZEROUPPER
	RET

sure:
	LOAD64
	VSUBPD       Y15, Y10, Y10
	VSUBPD       Y15, Y11, Y11
	QUOTIENTS
	VMOVUPD      Y10, 0(DI)
	VMOVUPD      Y11, 32(DI)
	ADDQ         $64, DI
	SUBQ         $8, CX
	JNZ          sure
	VZEROUPPER
	RET
