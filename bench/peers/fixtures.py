"""
What PyTorch and Transformers say about tiny models of each family, for test/engine/local/parity.test.ts.

    bench/peers/setup.sh && bench/peers/.venv/bin/python bench/peers/fixtures.py

One folder per model under test/engine/local/fixtures: the checkpoint as `save_pretrained` writes it, a tokenizer, and
`expected.safetensors`. Every figure is worked out in float64 from the weights as they lie on disk. All models read the
rows of `rows.json`; A targets in all, each row's tokens but its first, in order.

    logits [A, V], logp [A], entropy [A]
    greedy [n], greedyLogp [n]: the last row continued with the most probable token, up to the end or 16 tokens
    c [A], e [A]          coefficients of loss = Σ c · logp + Σ e · entropy
    gradient.<name>       of that loss
    steps.<name>          weights after 20 AdamW steps on the mean of −logp
    clipped.<name>        the same with the gradient's norm clipped at 1
    norms.steps [20], norms.clipped [20]: the gradient's norm at each of these steps, before clipping

Which of the two runs of steps are kept differs, so that the folder stays small. `published.json` has configs of
published shape, each with what Transformers makes of it: how many tensors and parameters the model has, and the
frequencies of its rotary angles.
"""

import json
import math
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
    SmolLM3Config,
)
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.utils import logging

FOLDER = Path(__file__).parents[2] / "test/engine/local/fixtures"
LENGTHS = (36, 21, 9)
STEPS = 20
CONTINUED = 16
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.95), "eps": 1e-5}
DECAY = 0.1
CLIPS = {"steps": math.inf, "clipped": 1.0}

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["th", "the", "Ġa", "us", "use", "user", "in", "an", "er"]
# Ġ and Ċ stand for a space and a line's end
VOCABULARY = SPECIALS + ["Ġ", "Ċ", *map(chr, range(ord("a"), ord("z") + 1))] + MERGES
CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
CHAT = [
    {"role": "system", "content": "answer in one word"},
    {"role": "user", "content": "what is the user in"},
]

SIZE = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 24,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 2,
}


def rope(kind: str = "default", theta: float = 10_000.0, **more: object) -> dict[str, object]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **more}}


def llama(**more: object) -> LlamaConfig:
    return LlamaConfig(**{**SIZE, **rope(), **more})


# `stored`: the type of the weights on disk. `shard`: largest file. `steps`: which steps are kept.
# `published`: files of the older form that checkpoints on the hub have: `rope_theta` and `rope_scaling` of their own,
# no `head_dim` where it follows, the chat template within tokenizer_config.json.
MODELS: dict[str, dict[str, object]] = {
    "llama": {"config": llama(num_key_value_heads=4, tie_word_embeddings=False), "steps": ("steps", "clipped")},
    "llama3": {
        "config": llama(
            tie_word_embeddings=True,
            attention_bias=True,
            **rope(
                "llama3",
                500.0,
                factor=4.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=16,
            ),
        ),
        "published": True,
    },
    "linear": {
        "config": llama(tie_word_embeddings=False, **rope("linear", 100.0, factor=2.5)),
        "stored": torch.float16,
        "published": True,
    },
    "yarn": {
        "config": llama(
            tie_word_embeddings=True,
            mlp_bias=True,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=48,
            **rope("yarn", 100.0, factor=2.0, beta_fast=3.0, original_max_position_embeddings=24),
        ),
    },
    "smollm": {
        "config": llama(tie_word_embeddings=True, num_attention_heads=6),
        "published": True,
        "steps": ("clipped",),
    },
    "qwen2": {
        "config": Qwen2Config(**{**SIZE, **rope(theta=1e6), "rms_norm_eps": 1e-6}, tie_word_embeddings=True),
        "stored": torch.bfloat16,
        "published": True,
    },
    "qwen3": {
        "config": Qwen3Config(**{**SIZE, **rope(theta=1e6), "rms_norm_eps": 1e-6}, head_dim=8, tie_word_embeddings=True),
        "shard": "12KB",
    },
    "smollm3": {
        "config": SmolLM3Config(
            **{**SIZE, **rope(theta=5000.0), "num_hidden_layers": 3},
            no_rope_layers=[1, 0, 1],
            tie_word_embeddings=True,
        ),
        "steps": ("clipped",),
    },
}

# Configs as the hub has them, by what they are examples of; `like` names the one that another starts from.
PUBLISHED: dict[str, dict[str, object]] = {
    "Llama 3.2 1B": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "attention_bias": False,
        "head_dim": 64,
        "hidden_act": "silu",
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "max_position_embeddings": 131072,
        "mlp_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 16,
        "num_key_value_heads": 8,
        "pretraining_tp": 1,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {
            "factor": 32.0,
            "high_freq_factor": 4.0,
            "low_freq_factor": 1.0,
            "original_max_position_embeddings": 8192,
            "rope_type": "llama3",
        },
        "rope_theta": 500000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "vocab_size": 128256,
    },
    "SmolLM2 135M": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "attention_bias": False,
        "hidden_act": "silu",
        "hidden_size": 576,
        "intermediate_size": 1536,
        "is_llama_config": True,
        "max_position_embeddings": 8192,
        "mlp_bias": False,
        "num_attention_heads": 9,
        "num_hidden_layers": 30,
        "num_key_value_heads": 3,
        "rms_norm_eps": 1e-05,
        "rope_interleaved": False,
        "rope_scaling": None,
        "rope_theta": 100000,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "vocab_size": 49152,
    },
    "Qwen2.5 0.5B": {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_act": "silu",
        "hidden_size": 896,
        "intermediate_size": 4864,
        "max_position_embeddings": 32768,
        "max_window_layers": 24,
        "num_attention_heads": 14,
        "num_hidden_layers": 24,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-06,
        "rope_theta": 1000000.0,
        "sliding_window": 32768,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "use_mrope": False,
        "use_sliding_window": False,
        "vocab_size": 151936,
    },
    "Qwen3 0.6B": {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "attention_bias": False,
        "head_dim": 128,
        "hidden_act": "silu",
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "max_position_embeddings": 40960,
        "max_window_layers": 28,
        "num_attention_heads": 16,
        "num_hidden_layers": 28,
        "num_key_value_heads": 8,
        "rms_norm_eps": 1e-06,
        "rope_scaling": None,
        "rope_theta": 1000000,
        "sliding_window": None,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "use_sliding_window": False,
        "vocab_size": 151936,
    },
    "SmolLM3 3B": {
        "architectures": ["SmolLM3ForCausalLM"],
        "model_type": "smollm3",
        "attention_bias": False,
        "hidden_act": "silu",
        "hidden_size": 2048,
        "intermediate_size": 11008,
        "max_position_embeddings": 65536,
        "max_window_layers": 28,
        "mlp_bias": False,
        "no_rope_layer_interval": 4,
        "num_attention_heads": 16,
        "num_hidden_layers": 36,
        "num_key_value_heads": 4,
        "rms_norm_eps": 1e-06,
        "rope_scaling": None,
        "rope_theta": 5000000.0,
        "sliding_window": None,
        "torch_dtype": "bfloat16",
        "use_sliding_window": False,
        "vocab_size": 128256,
    },
    "YaRN, short form": {
        "like": "Qwen2.5 0.5B",
        "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    },
    "YaRN, ends that are not rounded": {
        "like": "Qwen3 0.6B",
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 4096,
        },
    },
    "YaRN, two scales": {
        "like": "Qwen3 0.6B",
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 40.0,
            "mscale": 1.0,
            "mscale_all_dim": 0.7,
            "original_max_position_embeddings": 1024,
        },
    },
    "YaRN, a stated factor on the angles": {
        "like": "Qwen3 0.6B",
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 8.0,
            "attention_factor": 0.9,
            "original_max_position_embeddings": 5120,
        },
    },
    "YaRN, ends that meet": {
        "like": "Llama 3.2 1B",
        "rope_theta": 10000.0,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 2.0,
            "beta_fast": 1.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 65536,
        },
    },
    "linear, with the newer form": {
        "like": "SmolLM2 135M",
        "rope_scaling": None,
        "rope_theta": None,
        "rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 50000.0},
    },
    "biases, no kv heads named, nothing tied": {
        "like": "SmolLM2 135M",
        "attention_bias": True,
        "mlp_bias": True,
        "num_key_value_heads": None,
        "tie_word_embeddings": None,
    },
}


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE of the kind that Qwen and SmolLM have, over a small alphabet."""
    vocabulary = {token: i for i, token in enumerate(VOCABULARY)}
    pairs = [[m[:k], m[k:]] for m in MERGES for k in range(1, len(m)) if m[:k] in vocabulary and m[k:] in vocabulary]
    first = {left + right: [left, right] for left, right in reversed(pairs)}
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": vocabulary[token],
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token in SPECIALS
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [first[m] for m in MERGES],
        },
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(file)),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHATML,
    )


def lively(model: PreTrainedModel, seed: int) -> None:
    """Weights with which every part of the decoder shows in what it says: no norm of ones, no bias of zeros."""
    random = torch.Generator().manual_seed(seed)
    for name, values in model.named_parameters():
        normal = torch.randn(values.shape, generator=random)
        with torch.no_grad():
            if "norm" in name:
                values.copy_(1 + 0.3 * normal)
            elif name.endswith(".bias"):
                values.copy_(0.3 * normal)
            else:
                values.copy_(normal * (0.5 if "embed_tokens" in name else 1.2 / math.sqrt(values.shape[1])))


def publish(folder: Path) -> None:
    """The same folder in the form that Transformers 4 wrote."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    angles = config.pop("rope_parameters")
    config["rope_theta"] = angles.pop("rope_theta")
    kind = angles.pop("rope_type")
    # "type" is the oldest name of the field
    name = "type" if kind == "linear" else "rope_type"
    config["rope_scaling"] = None if kind == "default" else {name: kind, **angles}
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    if config.get("head_dim") == config["hidden_size"] // config["num_attention_heads"]:
        config.pop("head_dim")
    path.write_text(json.dumps(config, indent=2))
    words = folder / "tokenizer_config.json"
    template = folder / "chat_template.jinja"
    words.write_text(json.dumps({**json.loads(words.read_text()), "chat_template": template.read_text()}))
    template.unlink()


def load(folder: Path) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()


def read(model: PreTrainedModel, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits [A, V], log-probabilities [A] and entropies [A] at the targets of each row, one row at a time."""
    logits = torch.cat([model(torch.tensor([row])).logits[0, :-1] for row in rows])
    everything = logits.log_softmax(-1)
    targets = torch.tensor([token for row in rows for token in row[1:]])
    return logits, everything.gather(1, targets[:, None])[:, 0], -(everything.exp() * everything).sum(-1)


@torch.no_grad()
def continued(model: PreTrainedModel, prompt: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = list(prompt)
    said = []
    while len(tokens) < len(prompt) + CONTINUED and tokens[-1] != SIZE["eos_token_id"]:
        everything = model(torch.tensor([tokens])).logits[0, -1].log_softmax(-1)
        first, second = everything.topk(2).values
        assert first - second > 1e-3, "too close a call"
        said.append(first)
        tokens.append(int(everything.argmax()))
    return torch.tensor(tokens[len(prompt) :]), torch.stack(said)


def decays(name: str) -> bool:
    """Norms, embeddings and biases keep their size."""
    return "norm" not in name and "embed_tokens" not in name and not name.endswith(".bias")


def train(folder: Path, rows: list[list[int]], clip: float) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    model = load(folder)
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if decays(name)], "weight_decay": DECAY},
        {"params": [p for name, p in named if not decays(name)], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, **ADAMW)
    norms = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        (-read(model, rows)[1].mean()).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), clip))
        optimiser.step()
    return {name: p.detach() for name, p in named}, torch.stack(norms)


def expected(folder: Path, rows: list[list[int]], seed: int, runs: tuple[str, ...]) -> dict[str, torch.Tensor]:
    model = load(folder)
    logits, logp, entropy = read(model, rows)
    random = torch.Generator().manual_seed(seed)
    # as the test reads them: exact in float32
    c, e = (torch.randn(logp.shape, generator=random) for _ in range(2))
    ((c.double() * logp).sum() + (e.double() * entropy).sum()).backward()
    greedy, greedy_logp = continued(model, rows[-1])
    said = {"logits": logits, "logp": logp, "entropy": entropy, "c": c, "e": e}
    said |= {"greedy": greedy, "greedyLogp": greedy_logp}
    said |= {f"gradient.{name}": p.grad for name, p in model.named_parameters()}
    for run in runs:
        weights, norms = train(folder, rows, CLIPS[run])
        said |= {f"{run}.{name}": p for name, p in weights.items()} | {f"norms.{run}": norms}
    return said


def save(tensors: dict[str, torch.Tensor], path: Path) -> None:
    save_file({name: x.detach().float().contiguous() for name, x in tensors.items()}, path)


def understood(name: str) -> dict[str, object]:
    """What Transformers makes of a published config. A field that is None here is left out."""
    spec = PUBLISHED[name]
    whole = {**PUBLISHED[spec["like"]], **spec} if "like" in spec else spec
    config = {key: value for key, value in whole.items() if key != "like" and (value is not None or key not in spec)}
    with TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(config))
        parsed = AutoConfig.from_pretrained(folder)
    angles = LlamaRotaryEmbedding(parsed)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(parsed)
    sizes = [p.numel() for p in model.parameters()]
    return {
        "name": name,
        "config": config,
        "tensors": len(sizes),
        "parameters": sum(sizes),
        "frequencies": [float(f"{x:.8g}") for x in angles.inv_freq.tolist()],
        "scale": angles.attention_scaling,
    }


def tidy(folder: Path) -> None:
    """The repository's one form of JSON."""
    subprocess.run(["node_modules/.bin/biome", "format", "--write", str(folder)], cwd=FOLDER.parents[3], check=True)


def main() -> None:
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    random = torch.Generator().manual_seed(0)
    # without the padding token: nn.Embedding gives that one no gradient where it is read
    rows = [torch.randint(1, len(VOCABULARY), (length,), generator=random).tolist() for length in LENGTHS]
    FOLDER.mkdir(parents=True, exist_ok=True)
    words = tokenizer()
    chat = words.apply_chat_template(CHAT, add_generation_prompt=True, return_dict=False)
    text = words.apply_chat_template(CHAT, add_generation_prompt=True, tokenize=False)
    said = {"rows": rows, "chat": {"messages": CHAT, "text": text, "ids": chat}}
    (FOLDER / "rows.json").write_text(json.dumps(said))
    (FOLDER / "published.json").write_text(json.dumps([understood(name) for name in PUBLISHED]))
    for seed, (name, spec) in enumerate(MODELS.items()):
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        config = spec["config"]
        assert isinstance(config, PreTrainedConfig)
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
        lively(model, seed)
        model.to(spec.get("stored", torch.float32)).save_pretrained(folder, max_shard_size=spec.get("shard", "5GB"))
        words.save_pretrained(folder)
        if spec.get("published"):
            publish(folder)
        tensors = expected(folder, rows, 100 + seed, spec.get("steps", ("steps",)))
        save(tensors, folder / "expected.safetensors")
        for file in folder.iterdir():
            file.chmod(0o644)
        size = sum(p.stat().st_size for p in folder.iterdir())
        print(f"{name}: {size / 1024:.0f} KB")
    tidy(FOLDER)


if __name__ == "__main__":
    main()
