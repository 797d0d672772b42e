/** Bytes of one element. */

export const F32 = 4;
/** BF16 and FP16. */
export const HALF = 2;
