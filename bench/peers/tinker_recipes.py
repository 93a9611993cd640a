"""The tinker-cookbook's simplest recipes, unmodified, against a server of ours; only what comes from the hub is replaced.

python tinker_recipes.py URL TOKENIZER_FOLDER sl|rl LOG_FOLDER
"""

import json
import sys


import datasets
from transformers import PreTrainedTokenizerFast
from tinker_cookbook import model_info, tokenizer_utils

url, folder, recipe, log = sys.argv[1:5]
tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
tokenizer_utils.register_tokenizer("tiny", lambda: tokenizer)
model_info.get_recommended_renderer_name = lambda name: "role_colon"

said = [{"role": "user", "content": "Say hello."}, {"role": "assistant", "content": "hello"}]
rows = {
    "sl": {"messages": [said] * 64},
    "rl": {"question": ["1 + 1?"] * 64, "answer": ["two\n#### 2"] * 64},
}[recipe]
datasets.load_dataset = lambda *a, **k: datasets.DatasetDict(train=datasets.Dataset.from_dict(rows))

if recipe == "sl":
    from tinker_cookbook.recipes import sl_loop as module

    config = module.Config(
        base_url=url, log_path=log, model_name="tiny", batch_size=8, learning_rate=1e-2, lora_rank=8, save_every=4
    )
else:
    from tinker_cookbook.recipes import rl_loop as module

    # a model of random weights never answers right, and repeats itself: a reply is worth its share of different characters
    module.get_reward = lambda response, answer: len(set(response)) / max(1, len(response))
    config = module.Config(
        base_url=url, log_path=log, model_name="tiny", batch_size=4, group_size=8, learning_rate=2e-2,
        lora_rank=8, save_every=0, max_tokens=8, loss_fn="importance_sampling", max_steps=8,
    )
module.main(config)
lines = [json.loads(line) for line in open(f"{log}/metrics.jsonl")]
key = "train_mean_nll" if recipe == "sl" else "reward/total"
print(json.dumps({"recipe": recipe, key: [round(x[key], 4) for x in lines if key in x]}))
