"""Training in PyTorch: Transformers' LlamaForCausalLM, eager or compiled, with the fused AdamW.

Kept fair: rows are sorted by length and padded outside the measured time, attention needs no mask because padding
stands on the right, and logits are made at the targets only.
"""

import argparse
import time

import lines
import torch
import torch.nn.functional as F
from transformers import LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--compile", action="store_true")
args = lines.threads_and(parser)

model = None
optimizer = None
batches = {}
padded = {}
losses = {}


def open_model(folder, **_):
    global model, optimizer
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")
    model.config.use_cache = False
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, fused=True
    )
    losses.clear()
    torch._dynamo.reset()
    return {"parameters": sum(p.numel() for p in model.parameters())}


def take_rows(name, rows):
    padded.clear()
    batches[name] = sorted(rows, key=lambda row: len(row["tokens"]))


def micro_batches(name, micro):
    """Padded micro-batches of `micro` rows: tokens, flat places whose next token is a target, those targets."""
    if (name, micro) not in padded:
        rows = batches[name]
        out = []
        for start in range(0, len(rows), micro):
            part = rows[start : start + micro]
            longest = max(len(row["tokens"]) for row in part)
            tokens = torch.zeros(len(part), longest, dtype=torch.long)
            places, targets = [], []
            for r, row in enumerate(part):
                tokens[r, : len(row["tokens"])] = torch.tensor(row["tokens"])
                places += [r * longest + p - 1 for p in range(row["from"], len(row["tokens"]))]
                targets += row["tokens"][row["from"] :]
            out.append((tokens, torch.tensor(places), torch.tensor(targets)))
        padded[name, micro] = out
    return padded[name, micro]


def summed_loss(tokens, places, targets):
    hidden = model.model(input_ids=tokens, use_cache=False).last_hidden_state
    at_targets = hidden.reshape(-1, hidden.shape[-1])[places]
    return F.cross_entropy(model.lm_head(at_targets), targets, reduction="sum")


def loss_for(name):
    """Compiled apart for each set of rows: one shape is compiled as such, several shapes with free sizes."""
    if not args.compile:
        return summed_loss
    if name not in losses:
        one_shape = len({len(row["tokens"]) for row in batches[name]}) == 1
        losses[name] = torch.compile(summed_loss, dynamic=None if one_shape else True)
    return losses[name]


def train(rows, times, micro):
    parts = micro_batches(rows, micro)
    targets = sum(len(t) for _, _, t in parts)
    loss_of = loss_for(rows)
    began = time.perf_counter()
    for _ in range(times):
        for tokens, places, wanted in parts:
            (loss_of(tokens, places, wanted) / targets).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "tokens": times * sum(len(row["tokens"]) for row in batches[rows])}


@torch.no_grad()
def score(rows, micro=32):
    parts = micro_batches(rows, micro)
    total = sum(summed_loss(*part).item() for part in parts)
    return {"logp": -total / sum(len(t) for _, _, t in parts)}


def baseline():
    x = torch.rand(64, 64, requires_grad=True)
    (x @ x).sum().backward()
    lines.forget_peak()
    return lines.memory()


@torch.no_grad()
def matmul(m, k, n, times):
    a, b = torch.rand(m, k) - 0.5, torch.rand(k, n) - 0.5
    product = torch.empty(m, n)
    torch.mm(a, b, out=product)
    began = time.perf_counter()
    for _ in range(times):
        torch.mm(a, b, out=product)
    return {"seconds": time.perf_counter() - began, "tokens": 2 * m * k * n * times}


lines.serve(
    {
        "about": lambda: lines.versions("torch", "transformers"),
        "open": open_model,
        "rows": take_rows,
        "score": score,
        "train": train,
        "baseline": baseline,
        "memory": lines.memory,
        "matmul": matmul,
    }
)
