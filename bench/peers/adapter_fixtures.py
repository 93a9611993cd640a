"""
What PEFT says about low-rank adapters, for test/engine/local/parity-adapters.test.ts. Run fixtures.py first.

    bench/peers/.venv/bin/python bench/peers/adapter_fixtures.py

One folder per adapter under test/engine/local/fixtures/adapters: the adapter as PEFT writes it, on the model of
fixtures.py that `base_model_name_or_path` names, and `expected.safetensors`. Figures are worked out in float64.

    logits [A, V]
    c [A], e [A]          coefficients of loss = Σ c · logp + Σ e · entropy
    gradient.<name>       of that loss, by the names of adapter_model.safetensors
    steps.<name>          matrices after 5 AdamW steps on the mean of −logp
    merged.<name>         weights of layer 1 as `merge_and_unload` leaves them

The folder `ours` was written by this repository's engine (`node test/engine/local/fixtures/ours.ts`) and is only read
here: its `expected.safetensors` has the logits that PEFT gets from it.
"""

import json
import shutil
from pathlib import Path

import torch
from fixtures import ADAMW, DECAY, FOLDER, load, read, save, tidy
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers.utils import logging

ADAPTERS = FOLDER / "adapters"
STEPS = 5
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# by folder: the model it sits on, and its settings
MADE: dict[str, tuple[str, LoraConfig]] = {
    "llama": ("llama", LoraConfig(r=4, lora_alpha=8, target_modules=ALL, task_type="CAUSAL_LM")),
    "qwen2": ("qwen2", LoraConfig(r=4, lora_alpha=8, target_modules=ALL, task_type="CAUSAL_LM")),
    "qwen3": (
        "qwen3",
        LoraConfig(r=2, lora_alpha=6, use_rslora=True, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
    ),
}


def stored(name: str) -> str:
    """A parameter's name on disk, where the adapter's own name is left out."""
    return name.replace(".default.", ".")


def on(base: str, folder: Path) -> PeftModel:
    return PeftModel.from_pretrained(load(FOLDER / base), folder, is_trainable=True).double().eval()


def trained(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    return {stored(name): p for name, p in model.named_parameters() if p.requires_grad}


def make(folder: Path, base: str, config: LoraConfig, seed: int) -> None:
    model = get_peft_model(load(FOLDER / base), config).float()
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in trained(model).values():
            p.copy_(torch.randn(p.shape, generator=random) * 0.4)
    model.save_pretrained(folder)
    (folder / "README.md").unlink()
    path = folder / "adapter_config.json"
    written = json.loads(path.read_text())
    # no place on this disk, and a set in an order of its own
    written |= {"base_model_name_or_path": base, "target_modules": sorted(written["target_modules"])}
    path.write_text(json.dumps(written))


def expected(folder: Path, base: str, rows: list[list[int]], seed: int) -> dict[str, torch.Tensor]:
    model = on(base, folder)
    logits, logp, entropy = read(model, rows)
    random = torch.Generator().manual_seed(seed)
    c, e = (torch.randn(logp.shape, generator=random) for _ in range(2))
    ((c.double() * logp).sum() + (e.double() * entropy).sum()).backward()
    said = {"logits": logits, "c": c, "e": e}
    said |= {f"gradient.{name}": p.grad for name, p in trained(model).items()}

    model = on(base, folder)
    optimiser = torch.optim.AdamW(trained(model).values(), weight_decay=DECAY, **ADAMW)
    for _ in range(STEPS):
        optimiser.zero_grad()
        (-read(model, rows)[1].mean()).backward()
        optimiser.step()
    said |= {f"steps.{name}": p for name, p in trained(model).items()}

    merged = on(base, folder).merge_and_unload().state_dict()
    return said | {
        f"merged.{name}": x for name, x in merged.items() if ".layers.1." in name and "_proj.weight" in name
    }


def main() -> None:
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    rows = json.loads((FOLDER / "rows.json").read_text())["rows"]
    ADAPTERS.mkdir(exist_ok=True)
    for seed, (name, (base, config)) in enumerate(MADE.items()):
        folder = ADAPTERS / name
        shutil.rmtree(folder, ignore_errors=True)
        make(folder, base, config, 200 + seed)
        save(expected(folder, base, rows, 300 + seed), folder / "expected.safetensors")
    folder = ADAPTERS / "ours"
    model = on(json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"], folder)
    odd = set(load_file(folder / "adapter_model.safetensors")) ^ set(trained(model))
    assert not odd, f"tensors that one side lacks: {sorted(odd)}"
    save({"logits": read(model, rows)[0]}, folder / "expected.safetensors")
    for folder in ADAPTERS.iterdir():
        for file in folder.iterdir():
            file.chmod(0o644)
    tidy(ADAPTERS)


if __name__ == "__main__":
    main()
