"""
Losses of TRL and verl and their gradients with respect to log-probabilities, for test/method/references.test.ts.

    sh bench/peers/setup.sh
    bench/peers/.venv/bin/pip install --requirement bench/peers/requirements-losses.txt
    bench/peers/.venv/bin/pip install --no-deps verl==0.9.1     # its requirements exclude TRL's version of transformers
    bench/peers/.venv/bin/python bench/peers/losses.py

Writes test/method/fixtures/losses.data.json: `rows`, the attempts that every side is given (three tasks of four attempts, those
of the last task with equal rewards), `pairs` of them, and for each case the library's loss and its gradient with respect
to each token's log-probability. All in float64.

Each case runs the library's own function. Only what surrounds it is replaced: the model's forward pass returns the given
log-probabilities, and generation returns the given completions. Advantages are computed from the rewards by the library
too. Settings are those of our method; where a library has none for what we do, the test says so.
"""

import json
import random
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from accelerate import Accelerator
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.kto_trainer import KTOTrainer
from trl.trainer.rloo_trainer import RLOOTrainer
from trl.trainer.sft_trainer import SFTTrainer
from verl.trainer.ppo import core_algos as verl
from verl.workers.config import FSDPActorConfig

FILE = Path(__file__).parents[2] / "test/method/fixtures/losses.data.json"
GENERATIONS = 4
REWARDS = [1.0, 0.0, 0.25, 0.0, 0.5, 2.0, -1.0, 0.5, 1.0, 1.0, 1.0, 1.0]
LENGTHS = [3, 5, 1, 2, 4, 2, 3, 5, 2, 1, 4, 3]
PAIRS = [[0, 1], [2, 3], [5, 6], [4, 7]]
LONGEST = max(LENGTHS)
# the constant of our dr-grpo
CONSTANT = 32

torch.set_default_dtype(torch.float64)


def made_rows() -> list[dict]:
    draw = random.Random(19)
    rows = []
    for i, (reward, length) in enumerate(zip(REWARDS, LENGTHS, strict=True)):
        sampled = [round(draw.uniform(-3.0, -0.2), 4) for _ in range(length)]
        rows.append(
            {
                "group": i // GENERATIONS,
                "reward": reward,
                # log-probabilities when sampled, now (ratios on both sides of every clip range) and of a reference
                "sampled": sampled,
                "now": [round(x + draw.uniform(-0.7, 0.7), 4) for x in sampled],
                "reference": [round(x + draw.uniform(-0.5, 0.5), 4) for x in sampled],
                # a critic's values when sampled, and now
                "value": (value := [round(draw.uniform(-1.0, 1.0), 4) for _ in range(length)]),
                "valueNow": [round(v + draw.uniform(-0.6, 0.6), 4) for v in value],
            }
        )
    # one ratio beyond the bound of CISPO; its advantage is positive, or verl's second clip, at a ratio of 3, would apply
    rows[5]["sampled"][0], rows[5]["now"][0] = -2.1, -0.3
    return rows


ROWS = made_rows()


def padded(name: str, rows: list[int]) -> torch.Tensor:
    out = torch.zeros(len(rows), LONGEST)
    for i, r in enumerate(rows):
        out[i, : LENGTHS[r]] = torch.tensor(ROWS[r][name])
    return out


def masked(rows: list[int]) -> torch.Tensor:
    out = torch.zeros(len(rows), LONGEST, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : LENGTHS[r]] = 1
    return out


def ragged(x: torch.Tensor, rows: list[int]) -> list[list[float]]:
    """One list for each row of ROWS; rows that took no part get zeros."""
    out = [[0.0] * length for length in LENGTHS]
    for i, r in enumerate(rows):
        out[r] = x[i, : LENGTHS[r]].tolist()
    return out


def result(loss: torch.Tensor, of: torch.Tensor, rows: list[int]) -> dict:
    (gradient,) = torch.autograd.grad(loss, of)
    return {"loss": loss.item(), "cotangents": ragged(gradient, rows)}


ALL = list(range(len(ROWS)))
# the last task's rewards are equal, so DAPO's dynamic sampling would have replaced it
MIXED = [r for r in ALL if ROWS[r]["group"] != 2]


# ---- TRL ----


MODEL = torch.nn.Module()  # in training, and never run
MODEL.is_gradient_checkpointing = False


def trainer(**more) -> SimpleNamespace:
    """What the loss functions read of a trainer."""
    return SimpleNamespace(
        **{
            "accelerator": Accelerator(cpu=True),
            "model": MODEL,
            "_metrics": {"train": defaultdict(list)},
            "_logs": defaultdict(list, rewards=defaultdict(list), extra=defaultdict(list)),
            "_pending_extra_logs": {},
            "_pending_metrics": {},
            "_total_train_tokens": 0,
            "_tp_size": 1,
            "aux_loss_enabled": False,
            "current_gradient_accumulation_steps": 1,
            **more,
        }
    )


def rollouts(of, rows: list[int], now: torch.Tensor, start: torch.Tensor, **more) -> tuple[SimpleNamespace, dict]:
    """A GRPO or RLOO trainer, and the inputs that it makes of completions and their rewards."""
    prompts, completions = [[1]] * len(rows), [[2] * LENGTHS[r] for r in rows]
    made = (prompts, completions, completions)
    if of is GRPOTrainer:
        made = (prompts, completions, None, completions, None, {}, None, None)
    args = SimpleNamespace(
        per_device_train_batch_size=len(rows),
        steps_per_generation=1,
        gradient_accumulation_steps=1,
        gradient_checkpointing_kwargs=None,
        delta=None,
        use_bias_correction_kl=False,
    )
    scored = [start]  # the first forward pass is that of the policy that sampled, later ones are those of the present
    self = trainer(
        args=args,
        environment_factories=None,
        environments=None,
        tools=[],
        _generate=lambda _: made,
        _tokenizer=SimpleNamespace(pad_token_id=0),
        pad_to_multiple_of=None,
        mask_truncated_completions=False,
        num_iterations=2,  # so that the log-probabilities when sampled are kept
        use_vllm=False,
        beta=0.0,
        num_generations=GENERATIONS,
        reward_weights=torch.ones(1),
        reward_funcs=[None],
        reward_func_names=["reward"],
        reward_clip_range=None,
        multi_objective_aggregation="sum_then_normalize",
        scale_rewards="group",
        normalize_advantages=False,
        log_multimodal=False,
        off_policy_mask_threshold=None,
        importance_sampling_level="token",
        loss_type="dapo",
        epsilon_low=0.2,
        epsilon_high=0.2,
        top_entropy_quantile=1.0,
        max_completion_length=CONSTANT,
        _entropy_bonus_enabled=False,
        ref_model=None,
    )
    self.__dict__.update(more)
    rewards = torch.tensor([[ROWS[r]["reward"]] for r in rows])
    self._calculate_rewards = lambda *_: rewards
    self._get_per_token_logps_and_entropies = lambda *_, **__: (
        scored.pop(0) if scored else now,
        torch.zeros_like(now),
        None,
    )
    if self.beta:
        self.ref_model = "reference"
        scored.append(padded("reference", rows))
    return self, of._generate_and_score_completions(self, [{"prompt": "x"} for _ in rows])


def policy(of=GRPOTrainer, rows: list[int] = ALL, on_policy: bool = False, **more) -> dict:
    start = padded("sampled", rows)
    now = (start.clone() if on_policy else padded("now", rows)).requires_grad_()
    self, inputs = rollouts(of, rows, now, start, **more)
    return result(of._compute_loss(self, None, inputs), now, rows)


def forward(log_probs: torch.Tensor, mask: torch.Tensor) -> SimpleNamespace:
    """A model's fused outputs."""
    zeros = torch.zeros_like(log_probs)
    return SimpleNamespace(
        log_probs=log_probs * mask, entropy=zeros, mean_logits=zeros, is_top1=zeros.bool(), label_mask=mask.bool()
    )


def sequences(rows: list[int]) -> dict:
    """One prompt token before each completion."""
    mask = torch.cat([torch.zeros(len(rows), 1, dtype=torch.long), masked(rows)], dim=1)
    return {"input_ids": mask.clone(), "attention_mask": torch.ones_like(mask), "completion_mask": mask}


def preferences(loss_type: str, beta: float) -> dict:
    rows = [pair[0] for pair in PAIRS] + [pair[1] for pair in PAIRS]
    now, mask = padded("now", rows).requires_grad_(), masked(rows)
    self = trainer(
        args=SimpleNamespace(gradient_checkpointing_kwargs=None),
        ld_alpha=None,
        precompute_ref_logps=False,
        ref_model=lambda **_: forward(padded("reference", rows), mask),
        f_divergence_type="reverse_kl",
        loss_types=[loss_type],
        loss_weights=[1.0],
        beta=beta,
        label_smoothing=0.0,
        use_weighting=False,
    )
    loss = DPOTrainer._compute_loss(self, lambda **_: forward(now, mask), sequences(rows), False)
    return result(loss, now, rows)


def prospects(beta: float) -> dict:
    """Good: above the task's mean. The completions of the KL term are the same ones, as they were when sampled."""
    mean = {g: np.mean([row["reward"] for row in ROWS if row["group"] == g]) for g in range(3)}
    rows = [r for r in MIXED if ROWS[r]["reward"] != mean[ROWS[r]["group"]]]
    now, mask = padded("now", rows).requires_grad_(), masked(rows)
    every = masked(ALL)
    self = trainer(
        args=SimpleNamespace(gradient_checkpointing_kwargs=None),
        precompute_ref_logps=False,
        calculate_KL=True,
        loss_type="kto",
        beta=beta,
        desirable_weight=1.0,
        undesirable_weight=1.0,
        ref_model="reference",
    )

    def model(name: str):
        def run(**given):
            if given["input_ids"].size(0) == len(ALL):
                return forward(padded("reference" if name == "reference" else "sampled", ALL), every)
            return forward(padded("reference", rows) if name == "reference" else now, mask)

        return run

    self.ref_model = model("reference")
    self._compute_kl_logps = lambda of, batch: KTOTrainer._compute_kl_logps(self, of, batch)
    other = {f"KL_{name}": x for name, x in sequences(ALL).items()}
    label = torch.tensor([ROWS[r]["reward"] > mean[ROWS[r]["group"]] for r in rows])
    loss = KTOTrainer._compute_loss(self, model("policy"), {**sequences(rows), **other, "label": label}, False)
    return result(loss, now, rows)


def supervised() -> dict:
    now, mask = padded("now", ALL).requires_grad_(), masked(ALL)
    args = SimpleNamespace(loss_type="nll", average_tokens_across_devices=False, max_length=None)
    self = trainer(args=args, compute_loss_func=None, label_smoother=None)
    inputs = {"input_ids": mask, "attention_mask": mask, "labels": mask}
    loss = SFTTrainer.compute_loss(self, lambda **_: forward(now, mask), inputs)
    return result(loss, now, ALL)


# ---- verl ----


def rewards_of(rows: list[int]) -> torch.Tensor:
    """Each row's reward at its last token."""
    out = torch.zeros(len(rows), LONGEST)
    for i, r in enumerate(rows):
        out[i, LENGTHS[r] - 1] = ROWS[r]["reward"]
    return out


def actor(low: float = 0.2, high: float = 0.2) -> FSDPActorConfig:
    return FSDPActorConfig(
        strategy="fsdp",
        rollout_n=GENERATIONS,
        ppo_micro_batch_size_per_gpu=1,
        clip_ratio=0.2,
        clip_ratio_low=low,
        clip_ratio_high=high,
    )


def verl_policy(
    advantages: torch.Tensor,
    loss=verl.compute_policy_loss_vanilla,
    mode: str = "token-mean",
    on_policy: bool = False,
    config: FSDPActorConfig | None = None,
    penalty: float = 0.0,
    rows: list[int] = ALL,
) -> dict:
    mask, old = masked(rows), padded("sampled", rows)
    now = (old.clone() if on_policy else padded("now", rows)).requires_grad_()
    value, _ = loss(old, now, advantages, mask, loss_agg_mode=mode, config=config or actor())
    if penalty:
        kl = verl.kl_penalty(now, padded("reference", rows), "k2")
        value = value + penalty * verl.agg_loss(kl, mask, "token-mean")
    return result(value, now, rows)


def groups_of(rows: list[int]) -> np.ndarray:
    return np.array([ROWS[r]["group"] for r in rows])


def verl_grpo(by_deviation: bool, rows: list[int] = ALL) -> torch.Tensor:
    return verl.compute_grpo_outcome_advantage(
        rewards_of(rows), masked(rows), groups_of(rows), norm_adv_by_std_in_grpo=by_deviation
    )[0]


def proximal() -> dict:
    mask, values = masked(ALL), padded("value", ALL)
    advantages, returns = verl.compute_gae_advantage_return(rewards_of(ALL), values, mask, 1.0, 0.95)
    predicted = padded("valueNow", ALL).requires_grad_()
    # so wide that nothing of the value is clipped
    critic, _ = verl.compute_value_loss(predicted, returns, values, mask, cliprange_value=1e9)
    return {**verl_policy(advantages), "critic": result(critic, predicted, ALL)}


def reinforce_plus_plus() -> dict:
    config = SimpleNamespace(gamma=1.0)
    advantages, _ = verl.compute_reinforce_plus_plus_outcome_advantage(rewards_of(ALL), masked(ALL), config=config)
    return verl_policy(advantages, penalty=1e-3)


CASES = {
    "trl": {
        "grpo": lambda: policy(),
        "grpo, mean over rows": lambda: policy(loss_type="grpo"),
        "grpo, k3 penalty": lambda: policy(beta=0.04),
        "dapo": lambda: policy(rows=MIXED, epsilon_high=0.28),
        "dr-grpo": lambda: policy(loss_type="dr_grpo", scale_rewards="none"),
        "gspo": lambda: policy(
            loss_type="grpo", importance_sampling_level="sequence", epsilon_low=0.1, epsilon_high=0.13
        ),
        "cispo": lambda: policy(loss_type="cispo", epsilon_high=5.0),
        "rloo": lambda: policy(RLOOTrainer, on_policy=True),
        "dpo": lambda: preferences("sigmoid", 0.1),
        "ipo": lambda: preferences("ipo", 0.1),
        "kto": lambda: prospects(0.1),
        "sft": supervised,
    },
    "verl": {
        "grpo": lambda: verl_policy(verl_grpo(True)),
        "dapo": lambda: verl_policy(verl_grpo(True, MIXED), config=actor(0.2, 0.28), rows=MIXED),
        "gspo": lambda: verl_policy(
            verl_grpo(True), verl.compute_policy_loss_gspo, "seq-mean-token-mean", config=actor(0.1, 0.13)
        ),
        "cispo": lambda: verl_policy(verl_grpo(True), verl.compute_policy_loss_cispo, config=actor(1.0, 4.0)),
        "rloo": lambda: verl_policy(
            verl.compute_rloo_outcome_advantage(rewards_of(ALL), masked(ALL), groups_of(ALL))[0], on_policy=True
        ),
        "reinforce-plus-plus": reinforce_plus_plus,
        "ppo": proximal,
    },
}


def short(x):
    """Numbers to ten digits, which keeps the file small."""
    if isinstance(x, float):
        return float(f"{x:.10g}")
    if isinstance(x, dict):
        return {name: short(y) for name, y in x.items()}
    return [short(y) for y in x] if isinstance(x, list) else x


def main() -> None:
    cases = {library: {name: run() for name, run in runs.items()} for library, runs in CASES.items()}
    made = {name: version(name) for name in ("trl", "verl", "torch", "transformers")}
    text = json.dumps(short({"versions": made, "rows": ROWS, "pairs": PAIRS, **cases}))
    FILE.write_text(text + "\n")
    print(f"{FILE}: {len(text)} bytes", *(f"{of} {name} {c['loss']:.6f}" for of in cases for name, c in cases[of].items()), sep="\n")


if __name__ == "__main__":
    main()
