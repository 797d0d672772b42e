"""Writes the model files of this folder with the formats' own Python packages (safetensors 0.8.0, gguf 0.19.0), so that
umaprobe's readers are tested on headers that it did not write. Run once: python3 make.py"""

import json
import os

import gguf
import numpy as np
import safetensors

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "I32": 4, "F8_E8M0": 1}


def tensor(dtype, *shape):
    return {"dtype": dtype, "shape": list(shape), "data": bytes(WIDTH[dtype] * int(np.prod(shape)))}


def name(dtype):
    return {"F32": "float32", "BF16": "bfloat16", "F16": "float16", "F8_E4M3": "float8_e4m3fn", "U8": "uint8",
            "I32": "int32", "F8_E8M0": "float8_e8m0fnu"}[dtype]


def write(path, tensors, metadata=None):
    path = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    buffers = {key: np.frombuffer(value["data"], np.uint8) for key, value in tensors.items()}
    specs = {
        key: safetensors.TensorSpec(dtype=name(value["dtype"]), shape=value["shape"], data_ptr=buffers[key].ctypes.data, data_len=len(buffers[key]))
        for key, value in tensors.items()
    }
    with open(path, "wb") as file:
        file.write(safetensors.serialize(specs, metadata))


def layer(index, hidden, ffn, kv):
    prefix = f"model.layers.{index}."
    return {
        prefix + "self_attn.q_proj.weight": tensor("BF16", hidden, hidden),
        prefix + "self_attn.k_proj.weight": tensor("BF16", kv, hidden),
        prefix + "self_attn.v_proj.weight": tensor("BF16", kv, hidden),
        prefix + "self_attn.o_proj.weight": tensor("BF16", hidden, hidden),
        prefix + "mlp.gate_proj.weight": tensor("BF16", ffn, hidden),
        prefix + "mlp.up_proj.weight": tensor("BF16", ffn, hidden),
        prefix + "mlp.down_proj.weight": tensor("BF16", hidden, ffn),
        prefix + "input_layernorm.weight": tensor("F32", hidden),
    }


def config(path, **fields):
    base = {"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 64, "vocab_size": 96, "max_position_embeddings": 512,
            "tie_word_embeddings": False, "torch_dtype": "bfloat16"}
    os.makedirs(os.path.join(HERE, path), exist_ok=True)
    with open(os.path.join(HERE, path, "config.json"), "w") as file:
        json.dump({**base, **fields}, file, indent=1)


# A model in two shards, with an index; BF16 and F32 mixed.
first = {"model.embed_tokens.weight": tensor("BF16", 96, 32), **layer(0, 32, 64, 16)}
second = {**layer(1, 32, 64, 16), "model.norm.weight": tensor("F32", 32), "lm_head.weight": tensor("BF16", 96, 32)}
write("sharded/model-00001-of-00002.safetensors", first, {"format": "pt"})
write("sharded/model-00002-of-00002.safetensors", second, {"format": "pt"})
config("sharded")
weight_map = {key: f"model-0000{part}-of-00002.safetensors" for part, shard in ((1, first), (2, second)) for key in shard}
with open(os.path.join(HERE, "sharded/model.safetensors.index.json"), "w") as file:
    json.dump({"metadata": {"total_size": 0}, "weight_map": weight_map}, file)

# FP8 with block scales and a layer after the last that predicts further tokens; AWQ packed in I32; NVFP4 packed in U8.
write("fp8/model.safetensors", {
    "model.embed_tokens.weight": tensor("BF16", 96, 32),
    "model.layers.0.mlp.up_proj.weight": tensor("F8_E4M3", 64, 32),
    "model.layers.0.mlp.up_proj.weight_scale_inv": tensor("F32", 1, 1),
    "model.layers.0.mlp.experts.7.up_proj.weight": tensor("F8_E4M3", 16, 32),
    "model.layers.2.eh_proj.weight": tensor("BF16", 32, 64),
    "visual.blocks.0.attn.qkv.weight": tensor("BF16", 24, 8),
})
config("fp8", num_hidden_layers=1, num_nextn_predict_layers=1,
       quantization_config={"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})
write("awq/model.safetensors", {
    "model.embed_tokens.weight": tensor("F16", 96, 32),
    "model.layers.0.mlp.up_proj.qweight": tensor("I32", 32, 8),
    "model.layers.0.mlp.up_proj.qzeros": tensor("I32", 1, 8),
    "model.layers.0.mlp.up_proj.scales": tensor("F16", 1, 64),
})
config("awq", num_hidden_layers=1, quantization_config={"quant_method": "awq", "bits": 4, "group_size": 32})
write("nvfp4/model.safetensors", {
    "model.embed_tokens.weight": tensor("BF16", 96, 32),
    "model.layers.0.mlp.up_proj.weight": tensor("U8", 64, 16),
    "model.layers.0.mlp.up_proj.weight_scale": tensor("F8_E4M3", 64, 2),
    "model.layers.0.mlp.up_proj.weight_scale_2": tensor("F32", 1),
})
config("nvfp4", num_hidden_layers=1)
with open(os.path.join(HERE, "nvfp4/hf_quant_config.json"), "w") as file:
    json.dump({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16}}, file)


def write_gguf(path, arch, fill, tensors, tokens=300, **options):
    path = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    writer = gguf.GGUFWriter(path, arch, **options)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token {index}" for index in range(tokens)])
    writer.add_token_types([1] * tokens)
    writer.add_token_scores([0.5] * tokens)
    writer.add_chat_template("{% for message in messages %}" * 400)
    fill(writer)
    for key, shape, dtype in tensors:
        if dtype is None:
            writer.add_tensor(key, np.zeros(shape, np.float32))
        else:
            rows = int(np.prod(shape[:-1]))
            block, size = gguf.GGML_QUANT_SIZES[dtype]
            data = np.zeros((rows, shape[-1] // block * size), np.uint8).reshape(*shape[:-1], -1)
            writer.add_tensor(key, data, raw_dtype=dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


Q = gguf.GGMLQuantizationType


def llama(writer):
    writer.add_block_count(2)
    writer.add_embedding_length(256)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_context_length(4096)
    writer.add_feed_forward_length(512)


write_gguf("llama.gguf", "llama", llama, [
    ("token_embd.weight", (300, 256), Q.Q4_K),
    ("blk.0.attn_q.weight", (256, 256), Q.Q4_0),
    ("blk.0.attn_k.weight", (128, 256), Q.Q6_K),
    ("blk.1.ffn_up.weight", (512, 256), Q.IQ4_XS),
    ("blk.1.ffn_gate_exps.weight", (2, 64, 256), Q.Q8_0),
    ("output_norm.weight", (256,), None),
])


def gemma(writer):
    llama(writer)
    writer.add_head_count_kv([2, 1])
    writer.add_key_length(64)
    writer.add_value_length(64)
    writer.add_sliding_window(1024)
    writer.add_array("gemma4.attention.sliding_window_pattern", [True, False])
    writer.add_final_logit_softcapping(30.0)


write_gguf("split/gemma.gguf", "gemma4", gemma, [
    ("token_embd.weight", (300, 256), Q.Q8_0),
    ("blk.0.attn_q.weight", (256, 256), Q.BF16),
    ("blk.1.attn_q.weight", (256, 256), Q.MXFP4),
    ("output.weight", (300, 256), Q.Q6_K),
], split_max_tensors=2)
