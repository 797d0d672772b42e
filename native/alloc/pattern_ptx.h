// The two GPU kernels of pattern.h as PTX, which the driver compiles for the GPU at run time.
//
// They are PTX and not machine code: one image runs on every GPU from Turing to GB10 and later, and
// the build needs no CUDA compiler. They use nothing newer than PTX 6.0 and sm_50, so that the
// drivers of CUDA 11 accept it. test/sim/core/native/fill.test.ts assembles it for sm_75 to sm_121
// if NVIDIA's assembler is installed.
//
// Each thread handles 16 bytes at a time and its neighbour the next 16; all threads together cover
// a window of some MiB that moves through the memory. The bytes after the last 16 are handled one
// per thread. The generator state, seed + (index + 1) * G, advances by an addition.
#pragma once

// Replaces state z by its pattern word. Overwrites t.
#define UMAPROBE_MIX(z, t)                               \
  "  shr.u64 " t ", " z ", 30; xor.b64 " z ", " z ", " t \
  ";\n"                                                  \
  "  mul.lo.u64 " z ", " z                               \
  ", 0xbf58476d1ce4e5b9;\n"                              \
  "  shr.u64 " t ", " z ", 27; xor.b64 " z ", " z ", " t \
  ";\n"                                                  \
  "  mul.lo.u64 " z ", " z                               \
  ", 0x94d049bb133111eb;\n"                              \
  "  shr.u64 " t ", " z ", 31; xor.b64 " z ", " z ", " t ";\n"

// The prologue of both kernels. Registers:
//   thread, threads   index of this thread, number of threads
//   base, bytes, origin (address of the block's first byte: base - first)
//   pairs, i          number of 16-byte pairs, index of the thread's current pair
//   address, stride   address of the current pair, distance to the thread's next pair
//   state, step       generator state of the pair's first word, increment to the next pair
#define UMAPROBE_BEGIN                                                                  \
  "  .reg .pred %done, %clean;\n"                                                       \
  "  .reg .b32 %block, %blocks, %size, %at, %small;\n"                                  \
  "  .reg .b64 %base, %bytes, %seed, %first, %origin, %thread, %threads, %pairs, %i;\n" \
  "  .reg .b64 %address, %stride, %state, %step, %t, %a, %b, %offset, %shift;\n"        \
  "  mov.u32 %block, %ctaid.x; mov.u32 %blocks, %nctaid.x;\n"                           \
  "  mov.u32 %size, %ntid.x; mov.u32 %at, %tid.x;\n"                                    \
  "  cvt.u64.u32 %t, %at; mad.wide.u32 %thread, %block, %size, %t;\n"                   \
  "  mul.wide.u32 %threads, %blocks, %size;\n"                                          \
  "  ld.param.u64 %base, [base]; ld.param.u64 %bytes, [bytes];\n"                       \
  "  ld.param.u64 %seed, [seed]; ld.param.u64 %first, [first];\n"                       \
  "  cvta.to.global.u64 %base, %base; sub.u64 %origin, %base, %first;\n"                \
  "  shr.u64 %pairs, %bytes, 4; mov.u64 %i, %thread;\n"                                 \
  "  shl.b64 %t, %thread, 4; add.u64 %address, %base, %t;\n"                            \
  "  shl.b64 %stride, %threads, 4;\n"                                                   \
  "  sub.u64 %t, %address, %origin; shr.u64 %t, %t, 3; add.u64 %t, %t, 1;\n"            \
  "  mad.lo.u64 %state, %t, 0x9e3779b97f4a7c15, %seed;\n"                               \
  "  mul.lo.u64 %step, %threads, 0x3c6ef372fe94f82a;\n"

// Computes the pattern words a and b of the pair with first state z. Overwrites t.
#define UMAPROBE_PAIR(a, b, z, t)                                                          \
  "  mov.u64 " a ", " z "; add.u64 " b ", " z ", 0x9e3779b97f4a7c15;\n" UMAPROBE_MIX(a, t) \
      UMAPROBE_MIX(b, t)

#define UMAPROBE_NEXT                                                       \
  "  add.u64 %address, %address, %stride; add.u64 %state, %state, %step;\n" \
  "  add.u64 %i, %i, %threads;\n"

// Jumps to `end` if no trailing byte belongs to this thread. Otherwise sets %address to that byte
// and the lowest byte of %a to its value.
#define UMAPROBE_LAST_BYTE(end) \
  "  and.b64 %t, %bytes, 15; setp.ge.u64 %done, %thread, %t;\n"                        \
  "  @%done bra " end ";\n"                                                            \
  "  sub.u64 %t, %bytes, %t; add.u64 %t, %t, %thread;\n"                               \
  "  add.u64 %address, %base, %t; sub.u64 %offset, %address, %origin;\n"               \
  "  shr.u64 %t, %offset, 3; add.u64 %t, %t, 1;\n"                                     \
  "  mad.lo.u64 %a, %t, 0x9e3779b97f4a7c15, %seed;\n"                                  \
  UMAPROBE_MIX("%a", "%t")                                                             \
  "  and.b64 %shift, %offset, 7; shl.b64 %shift, %shift, 3;\n"                         \
  "  cvt.u32.u64 %small, %shift; shr.u64 %a, %a, %small; and.b64 %a, %a, 255;\n"

// Adds the bytes of `got` that differ from `want` to %wrong and updates %lowest. Overwrites `want`.
#define UMAPROBE_COMPARE(got, want, address, more)                               \
  "  {\n"                                                                        \
  "  xor.b64 " want ", " got ", " want "; setp.eq.u64 %clean, " want             \
  ", 0;\n"                                                                       \
  "  @%clean bra SAME;\n"                                                        \
  "  brev.b64 %t, " want                                                         \
  "; clz.b64 %small, %t; shr.u32 %small, %small, 3;\n"                           \
  "  cvt.u64.u32 %t, %small; add.u64 %t, %t, " address "; add.u64 %t, %t, " more \
  ";\n"                                                                          \
  "  sub.u64 %t, %t, %origin; min.u64 %lowest, %lowest, %t;\n"                   \
  "  shr.u64 %t, " want ", 4; or.b64 " want ", " want                            \
  ", %t;\n"                                                                      \
  "  shr.u64 %t, " want ", 2; or.b64 " want ", " want                            \
  ", %t;\n"                                                                      \
  "  shr.u64 %t, " want ", 1; or.b64 " want ", " want                            \
  ", %t;\n"                                                                      \
  "  and.b64 " want ", " want ", 0x0101010101010101; popc.b64 %small, " want     \
  ";\n"                                                                          \
  "  cvt.u64.u32 %t, %small; add.u64 %wrong, %wrong, %t;\n"                      \
  "SAME:\n"                                                                      \
  "  }\n"

#define UMAPROBE_COMPARE_PAIR(got0, got1, address, z) \
  UMAPROBE_PAIR("%a", "%b", z, "%t")                  \
  UMAPROBE_COMPARE(got0, "%a", address, "0") UMAPROBE_COMPARE(got1, "%b", address, "8")

namespace umaprobe {

inline constexpr char kPatternKernels[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry umaprobe_fill(\n"
    "  .param .u64 base, .param .u64 bytes, .param .u64 seed, .param .u64 first)\n"
    ".maxntid 256, 1, 1\n"
    "{\n" UMAPROBE_BEGIN
    "PAIRS:\n"
    "  setp.ge.u64 %done, %i, %pairs; @%done bra LAST;\n" UMAPROBE_PAIR("%a", "%b", "%state", "%t")
    "  st.global.v2.u64 [%address], {%a, %b};\n" UMAPROBE_NEXT
    "  bra PAIRS;\n"
    "LAST:\n" UMAPROBE_LAST_BYTE("END")
    "  st.global.u8 [%address], %a;\n"
    "END:\n"
    "  ret;\n"
    "}\n"

    // Two pairs in flight hide memory latency. Each thread sums its own findings, so that memory
    // full of mismatches does not contend for the two global counters.
    ".visible .entry umaprobe_verify(\n"
    "  .param .u64 base, .param .u64 bytes, .param .u64 seed, .param .u64 first,\n"
    "  .param .u64 result)\n"
    ".maxntid 256, 1, 1\n"
    "{\n"
    "  .reg .b64 %result, %wrong, %lowest, %got<4>, %address2, %state2;\n" UMAPROBE_BEGIN
    "  ld.param.u64 %result, [result]; cvta.to.global.u64 %result, %result;\n"
    "  mov.u64 %wrong, 0; mov.u64 %lowest, 0xffffffffffffffff;\n"
    "TWO_PAIRS:\n"
    "  add.u64 %t, %i, %threads; setp.ge.u64 %done, %t, %pairs; @%done bra PAIR;\n"
    "  add.u64 %address2, %address, %stride; add.u64 %state2, %state, %step;\n"
    "  ld.global.v2.u64 {%got0, %got1}, [%address];\n"
    "  ld.global.v2.u64 {%got2, %got3}, [%address2];\n" UMAPROBE_COMPARE_PAIR("%got0", "%got1",
                                                                              "%address", "%state")
        UMAPROBE_COMPARE_PAIR("%got2", "%got3", "%address2", "%state2") UMAPROBE_NEXT UMAPROBE_NEXT
    "  bra TWO_PAIRS;\n"
    "PAIR:\n"
    "  setp.ge.u64 %done, %i, %pairs; @%done bra LAST;\n"
    "  ld.global.v2.u64 {%got0, %got1}, [%address];\n" UMAPROBE_COMPARE_PAIR("%got0", "%got1",
                                                                              "%address", "%state")
    "LAST:\n" UMAPROBE_LAST_BYTE("SUM")
    "  ld.global.u8 %b, [%address];\n" UMAPROBE_COMPARE("%b", "%a", "%address", "0")
    "SUM:\n"
    "  setp.eq.u64 %done, %wrong, 0; @%done bra END;\n"
    "  red.global.add.u64 [%result], %wrong; red.global.min.u64 [%result+8], %lowest;\n"
    "END:\n"
    "  ret;\n"
    "}\n";

}  // namespace umaprobe

#undef UMAPROBE_MIX
#undef UMAPROBE_BEGIN
#undef UMAPROBE_PAIR
#undef UMAPROBE_NEXT
#undef UMAPROBE_LAST_BYTE
#undef UMAPROBE_COMPARE
#undef UMAPROBE_COMPARE_PAIR
