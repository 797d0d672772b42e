/** Quantisation of a checkpoint, by its own metadata. */

import { isObject } from '../../base/objects.ts';
import type { JsonObject } from './model-file.ts';

export interface Quantization {
  /** "fp8", "awq", "gptq", "nvfp4", "mxfp4", "bitsandbytes", "compressed-tensors", … */
  method: string;
  /** Bits of a quantised weight; null: the metadata does not say. */
  bits: number | null;
  /** Bytes of a quantised weight with its share of scales and zero points; null: as `bits`. */
  bytesPerWeight: number | null;
  /** The same of the routed experts, where they have a format of their own (DeepSeek V4: FP4 beside FP8); null: as the others. */
  expertBytesPerWeight?: number | null;
  /** Data type of the KV cache that the checkpoint asks for: "fp8"; null: that of the model. */
  kvDtype: string | null;
}

/** FP8 with one FP32 scale for each block of 128 × 128. */
const FP8_BLOCK = 1 + 4 / (128 * 128);
/** FP4 with an FP8 scale for each 16 weights. */
const NVFP4 = 0.5 + 1 / 16;
/** FP4 with an E8M0 scale for each 32 weights. */
const MXFP4 = 0.5 + 1 / 32;
/** NF4 with one FP32 value for each 64 weights; with nested scales one byte and 4/256 for each 64. */
const NF4 = 0.5 + 4 / 64;
const NF4_NESTED = 0.5 + (1 + 4 / 256) / 64;

/**
 * @param config config.json.
 * @param modelopt hf_quant_config.json, which NVIDIA's Model Optimizer writes beside it; null: there is none.
 */
export function quantizationOf(config: JsonObject, modelopt: JsonObject | null): Quantization | null {
  const inner = isObject(config.text_config) ? config.text_config : {};
  const described = [config.quantization_config, inner.quantization_config, config.compression_config].find(isObject);
  const beside = isObject(modelopt?.quantization) ? modelopt.quantization : null;
  if (described !== undefined) {
    const found = quantizationFrom(described, beside);
    const expertDtype = inner.expert_dtype ?? config.expert_dtype ?? described.expert_dtype;
    return found.method === 'fp8' && expertDtype === 'fp4' ? { ...found, expertBytesPerWeight: MXFP4 } : found;
  }
  if (beside !== null) return quantizationFrom(beside, null);
  // MLX writes { "quantization": { "group_size": 64, "bits": 4 } }, with a scale and a bias of 2 bytes for each group.
  if (isObject(config.quantization) && typeof config.quantization.bits === 'number') {
    const bits = config.quantization.bits;
    const group = numberOf(config.quantization.group_size) ?? 64;
    return { method: 'mlx', bits, bytesPerWeight: bits / 8 + 4 / group, kvDtype: null };
  }
  return null;
}

function quantizationFrom(described: JsonObject, beside: JsonObject | null): Quantization {
  const method = String(described.quant_method ?? 'modelopt').toLowerCase();
  const algorithm = String(described.quant_algo ?? beside?.quant_algo ?? '').toUpperCase();
  const kvDtype = kvDtypeOf(described) ?? (beside === null ? null : kvDtypeOf(beside));
  return { ...weightsOf(method, algorithm, described), kvDtype };
}

function weightsOf(method: string, algorithm: string, described: JsonObject): Omit<Quantization, 'kvDtype'> {
  if (method.startsWith('modelopt') || algorithm !== '') {
    if (algorithm.includes('NVFP4')) return { method: 'nvfp4', bits: 4, bytesPerWeight: NVFP4 };
    if (algorithm.includes('FP8')) return { method: 'fp8', bits: 8, bytesPerWeight: 1 };
    if (algorithm.includes('AWQ')) return { method: 'awq', bits: 4, bytesPerWeight: 0.5 + 2 / 128 };
    return UNKNOWN(algorithm === '' ? method : algorithm.toLowerCase());
  }
  switch (method) {
    case 'fp8':
    case 'fbgemm_fp8':
      return { method: 'fp8', bits: 8, bytesPerWeight: Array.isArray(described.weight_block_size) ? FP8_BLOCK : 1 };
    case 'mxfp4':
      return { method, bits: 4, bytesPerWeight: MXFP4 };
    case 'bitsandbytes':
      return bitsAndBytes(described);
    case 'compressed-tensors':
      return compressed(described);
    case 'awq':
    case 'gptq':
    case 'auto-round':
      return grouped(method, described);
    default:
      return UNKNOWN(method);
  }
}

/** BitNet, torchao, EXL3, HQQ, AQLM and others: the size of a weight is not known. */
const UNKNOWN = (method: string): Omit<Quantization, 'kvDtype'> => ({ method, bits: null, bytesPerWeight: null });

/** Fields that are read here. */
export const QUANTIZATION_FIELDS: readonly string[] = ['quantization_config', 'compression_config', 'quantization'];

function bitsAndBytes(described: JsonObject): Omit<Quantization, 'kvDtype'> {
  const method = 'bitsandbytes';
  if (described.load_in_8bit === true || described._load_in_8bit === true)
    return { method, bits: 8, bytesPerWeight: 1 };
  if (described.load_in_4bit !== true && described._load_in_4bit !== true) return UNKNOWN(method);
  return { method, bits: 4, bytesPerWeight: described.bnb_4bit_use_double_quant === true ? NF4_NESTED : NF4 };
}

/** AWQ, GPTQ and their kin: a scale of 2 bytes and a zero point of `bits` for each group. */
function grouped(method: string, described: JsonObject): Omit<Quantization, 'kvDtype'> {
  const bits = numberOf(described.bits) ?? numberOf(described.w_bit);
  if (bits === null) return UNKNOWN(method);
  // GPTQModel: other bits for some layers.
  if (isObject(described.dynamic) && Object.keys(described.dynamic).length > 0)
    return UNKNOWN(`${method} with dynamic`);
  const group = numberOf(described.group_size) ?? numberOf(described.q_group_size) ?? 128;
  return { method, bits, bytesPerWeight: bits / 8 + (group > 0 ? (2 + bits / 8) / group : 0) };
}

function compressed(described: JsonObject): Omit<Quantization, 'kvDtype'> {
  const groups = isObject(described.config_groups) ? Object.values(described.config_groups) : [];
  const [weights = {}, ...others] = groups.map((group) =>
    isObject(group) && isObject(group.weights) ? group.weights : {},
  );
  // It is not known here which layers are in which group.
  if (others.some((other) => ['num_bits', 'type', 'group_size'].some((name) => other[name] !== weights[name])))
    return UNKNOWN('compressed-tensors of several types');
  const bits = numberOf(weights.num_bits);
  const format = String(described.format ?? '');
  if (format.includes('nvfp4') || (weights.type === 'float' && bits === 4 && weights.group_size === 16))
    return { method: 'nvfp4', bits: 4, bytesPerWeight: NVFP4 };
  if (format.includes('mxfp4') || (weights.type === 'float' && bits === 4))
    return { method: 'mxfp4', bits: 4, bytesPerWeight: MXFP4 };
  const group = numberOf(weights.group_size);
  if (bits === null) return UNKNOWN('compressed-tensors');
  return {
    method: 'compressed-tensors',
    bits,
    bytesPerWeight: bits / 8 + (group !== null && group > 0 ? 2 / group : 0),
  };
}

function kvDtypeOf(described: JsonObject): string | null {
  const scheme = described.kv_cache_scheme;
  if (isObject(scheme)) return scheme.num_bits === 8 ? 'fp8' : null;
  const algorithm = String(described.kv_cache_quant_algo ?? '').toUpperCase();
  if (algorithm.includes('FP8')) return 'fp8';
  return algorithm.includes('NVFP4') ? 'nvfp4' : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
}
