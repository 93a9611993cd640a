"""Whole GRPO iterations with TRL's GRPOTrainer, one at a time.

A callback holds the trainer at the beginning of each step until the next request; an iteration lasts from there to the
beginning of the next one, so that generation, rewards, the gradient step, logging and data loading all count.
"""

import os
import re
import time

import lines
import torch

lines.threads_and()

from datasets import Dataset  # noqa: E402  (after the threads are set)
from transformers import AutoTokenizer, LlamaForCausalLM, TrainerCallback  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

made = 0


def reward(completions, completion_ids, **_):
    """As in ../our-iteration.ts: the share of a reply's words with an even number."""
    global made
    made += sum(len(ids) for ids in completion_ids)
    out = []
    for completion in completions:
        words = completion[0]["content"].split()
        out.append(sum(bool(re.search(r"[02468]$", w)) for w in words) / max(1, len(words)))
    return out


class Turnstile(TrainerCallback):
    def __init__(self):
        self.left = 0
        self.began = None

    def on_step_begin(self, *_, **__):
        global made
        if self.left > 0:
            self.left -= 1
            if self.left > 0:
                return
            seconds = time.perf_counter() - self.began
            lines.answer({"seconds": seconds, "tokens": made, "peak": lines.memory()["peak"]})
        elif self.began is None:
            lines.answer({})  # the trainer is ready
        request = lines.next_request()
        self.left = request.get("times", 1)
        made = 0
        self.began = time.perf_counter()


def adapter(rank):
    """As ours: of twice the rank as alpha, on every product of every layer."""
    from peft import LoraConfig

    return LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")


def start(folder, scratch, texts, groupSize, maxTokens, tasksPerIteration, lora=None, **_):
    """Trains until the process ends."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")
    rows = tasksPerIteration * groupSize
    config = GRPOConfig(
        output_dir=os.path.join(scratch, "trl"),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=1,
        num_generations=groupSize,
        max_completion_length=maxTokens,
        generation_kwargs={"min_new_tokens": maxTokens},
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        num_iterations=1,
        beta=0.0,
        learning_rate=1e-5,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        max_steps=1_000_000,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        log_completions=False,
        seed=1,
    )
    trainer = GRPOTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(folder),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": text}]} for text in texts]),
        callbacks=[Turnstile()],
        peft_config=adapter(lora) if lora else None,
    )
    trainer.train()
    raise RuntimeError("the trainer ended")


lines.serve({"about": lambda: lines.versions("torch", "transformers", "trl", "peft"), "start": start})
