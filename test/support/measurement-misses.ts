/** The published measurements that an estimate misses, and why. */

/** A difference of more than 1 % (weights, cache, state), or a value outside the range (all else), and its reason. */
export const MISSES: Readonly<Record<string, string>> = {
  'm005 weights': 'the CPU build repacks a copy for AMX beside the mapped file',
  'm010 weights': 'the log counts mapped pages twice',
  'm011 weights': 'the log counts mapped pages twice',
  'm021 weights': 'a run on the CPU makes no copy of the embedding; within the range',
  'm057 weights': 'vLLM pads the tiles of NVFP4 experts; within the range',
  'm058 weights': 'vision and the layer for further tokens are not loaded, and the row does not have their size',
  'm060 weights': 'vLLM pads the tiles of NVFP4 experts, 704 to 768; within the range',
  'm065 weights': 'the recipe rounds 230 GB down to 220',
  'm077 weights': 'attention and the first and last layers stay in 16 bits; within the range',
  'm086 weights': 'SGLang prints the fall of MemAvailable, which varied by 12 % over 12 runs',
  'm088 weights': 'SGLang prints the fall of MemAvailable, which varied by 12 % over 12 runs',
  'm098 weights': 'the file has the rest in Q8_0, of which a config knows nothing',
  'm101 weights': 'vLLM pads the tiles of MXFP4 experts, 2880 to 3072; within the range',
  'm103 weights': 'its vision is not in the count of parameters; within the range',
  'm031 KV cache': 'this build makes room for the layer of further tokens, too; within the range',
  'm032 KV cache': 'this build makes room for the layer of further tokens, too; within the range',
  'm060 KV cache': 'a drafter with full attention, and pages of one size for both kinds of layer; within the range',
  'm061 KV cache': 'a drafter, whose layers the row does not have',
  'm062 KV cache': 'a drafter, whose layers the row does not have',
  'm065 KV cache': 'the recipe rounds 254 GB down to 240',
  'm068 KV cache': 'blocks left over: the pool is 1.1 % larger than its tokens',
  'm088 KV cache': 'SGLang prints FP4 without its scales, one byte for 16 elements',
  'm001 compute buffer': 'two GPUs and experts on the CPU, whose weights are copied in',
  'm008 compute buffer': '15 GPUs; this fork computes the scores in parts',
  'm010 compute buffer': 'two GPUs',
  'm014 compute buffer': 'experts on the CPU, whose weights are copied in',
  'm015 compute buffer': 'layers on the CPU, whose weights are copied in',
  'm016 compute buffer': 'two GPUs: copies for the pipeline',
  'm025 compute buffer': 'weights on the CPU, which are copied in',
  'm037 compute buffer': 'four GPUs and experts on the CPU',
  'm039 compute buffer': 'four GPUs and experts on the CPU',
  'm073 total': 'published as 12 GB, rounded',
  'm075 total': 'published as 65 GB, meaning GiB: 69.8 GB',
  'm076 total': 'published as 19 GB, rounded',
  'm124 training': 'gradients are freed layer by layer in the backward pass, and the optimizer is paged out',
};

/** Rows of which nothing can be compared, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  m082: 'neither the architecture nor the tokens of the pool are in the row',
  m090: 'the size of the checkpoint is not in the row',
  m100: 'a reading of the whole machine, rounded; the backend decides (61 or 118 GB)',
};
