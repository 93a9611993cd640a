"""PyTorch, Transformers and TRL on this machine's GPU: the figures that bench/gpu/measure.ts stands beside. One JSON line each.

    python3 peers.py train SIZE f32|bf16 ROWS
    python3 peers.py decode SIZE f32|bf16 ROWS
"""

import json
import statistics
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SHAPES = {  # vocabulary, width, layers, heads, key/value heads, feed-forward
    "0.5M": (512, 128, 2, 4, 4, 320),
    "25M": (2048, 512, 8, 8, 8, 1280),
    "135M": (49152, 576, 30, 9, 3, 1536),
    "360M": (49152, 960, 32, 15, 5, 2560),
}


def made(size, precision):
    V, W, L, H, G, F = SHAPES[size]
    config = LlamaConfig(
        vocab_size=V, hidden_size=W, num_hidden_layers=L, num_attention_heads=H, num_key_value_heads=G,
        intermediate_size=F, max_position_embeddings=512, tie_word_embeddings=True, attn_implementation="sdpa",
        bos_token_id=0, eos_token_id=1, pad_token_id=0,
    )
    torch.manual_seed(0)
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    return LlamaForCausalLM(config).to("cuda", dtype)


def train(size, precision, rows):
    model = made(size, precision).train()
    model.config.use_cache = False
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.01, fused=True)
    T = 192
    tokens = torch.randint(0, SHAPES[size][0], (rows, T), device="cuda")
    targets = torch.randint(0, SHAPES[size][0], (rows * T,), device="cuda")

    def step():
        logits = model(input_ids=tokens).logits
        loss = torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()  # read back, as a loop that reports its loss does

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    seconds = []
    until = time.time() + 4
    while time.time() < until or len(seconds) < 3:
        start = time.time()
        step()
        torch.cuda.synchronize()
        seconds.append(time.time() - start)
    s = statistics.median(seconds)
    print(json.dumps({"peer": "PyTorch eager", "train": size, "precision": precision, "rows": rows,
                      "tokensPerSecond": rows * T / s, "ms": 1000 * s, "steps": len(seconds),
                      "mib": torch.cuda.max_memory_allocated() / 2**20}), flush=True)


def decode(size, precision, rows):
    model = made(size, precision).eval()
    prompt = torch.randint(2, SHAPES[size][0], (rows, 32), device="cuda")
    mask = torch.ones_like(prompt)
    n = 128

    def run():
        with torch.no_grad():
            out = model.generate(prompt, attention_mask=mask, do_sample=True, top_k=0, min_new_tokens=n, max_new_tokens=n)
        torch.cuda.synchronize()
        return out.shape[1] - prompt.shape[1]

    run()
    rates = []
    for _ in range(2):
        start = time.time()
        rates.append(rows * run() / (time.time() - start))
    print(json.dumps({"peer": "Transformers generate", "decode": size, "precision": precision, "rows": rows,
                      "tokens": n, "tokensPerSecond": statistics.median(rates)}), flush=True)


def iterate(size, precision):
    """TRL's trainer: 8 prompts x 8 replies of 64 tokens, one update, over 8 iterations."""
    import transformers
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from trl import GRPOConfig, GRPOTrainer

    V = SHAPES[size][0]
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(V)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="w0", eos_token="w1", bos_token="w0", padding_side="left")
    torch.manual_seed(0)
    texts = [" ".join(f"w{2 + (i * 977 + t * 40503) % (V - 2)}" for t in range(64)) for i in range(128)]
    times = []

    class Clock(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            torch.cuda.synchronize()
            times.append(time.time())

    config = GRPOConfig(
        output_dir="/tmp/trl", per_device_train_batch_size=64, num_generations=8, max_completion_length=64,
        max_steps=8, learning_rate=1e-6, bf16=precision == "bf16", report_to=[], logging_steps=100, save_strategy="no",
        temperature=1.0, beta=0.0, gradient_checkpointing=False, disable_tqdm=True,
        generation_kwargs={"min_new_tokens": 64},
    )
    trainer = GRPOTrainer(
        model=made(size, "f32"), reward_funcs=lambda completions, **_: [float(len(c) % 7) for c in completions],
        args=config, train_dataset=Dataset.from_dict({"prompt": texts}), processing_class=tokenizer, callbacks=[Clock()])
    trainer.train()
    print(json.dumps({"peer": "TRL", "iterate": size, "precision": precision,
                      "seconds": statistics.median([b - a for a, b in zip(times[1:], times[2:])])}), flush=True)


if __name__ == "__main__":
    stage, size, precision = sys.argv[1:4]
    if stage == "train":
        train(size, precision, int(sys.argv[4]))
    elif stage == "decode":
        decode(size, precision, int(sys.argv[4]))
    else:
        iterate(size, precision)
