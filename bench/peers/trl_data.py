"""Reads files of training data as TRL's trainers do, and writes TRL's formats as `datasets` does.

    python trl_data.py read FILE...      one JSON object a row: what TRL makes of it, rendered
    python trl_data.py write FOLDER      files in every format, for our importer
"""

import json
import sys
from pathlib import Path

from datasets import Dataset, load_dataset
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl.data_utils import apply_chat_template, extract_prompt, is_conversational, unpair_preference_dataset

TEMPLATE = (
    "{% if tools %}<tools>{{ tools | map(attribute='function') | map(attribute='name') | join(',') }}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}[{{ c.function.name }} {{ c.function.arguments['at'] }}]{% endfor %}"
    "</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def tokenizer():
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"x": 0}, unk_token="x")))
    made.chat_template = TEMPLATE
    return made


def without_none(value):
    """`datasets` gives every row every column that any row has."""
    if isinstance(value, dict):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_none(v) for v in value]
    return value


def read(files):
    own = tokenizer()
    for file in files:
        rows = load_dataset("json", data_files=file, split="train")
        for row in rows:
            row = without_none(row)
            assert is_conversational(row), row
            tools = row.pop("tools", None)
            tools = json.loads(tools) if isinstance(tools, str) else tools
            print(json.dumps({"file": Path(file).name, **apply_chat_template(row, own, tools=tools)}))
    paired = [f for f in files if "preference" in f]
    for file in paired:
        unpaired = unpair_preference_dataset(load_dataset("json", data_files=file, split="train"))
        print(json.dumps({"file": Path(file).name, "unpaired": len(unpaired)}))


def write(folder):
    said = lambda role, content: {"role": role, "content": content}
    pair = {
        "prompt": [said("user", "p")],
        "chosen": [said("assistant", "good")],
        "rejected": [said("assistant", "bad")],
    }
    implicit = {k: pair["prompt"] + pair[k] for k in ("chosen", "rejected")}
    assert extract_prompt(implicit)["prompt"] == pair["prompt"]
    formats = {
        "preference": pair,
        "implicit": implicit,
        "sft": {"prompt": [said("user", "p")], "completion": [said("assistant", "good")]},
        "messages": {"messages": [said("user", "p"), said("assistant", "good")]},
        "unpaired": {"prompt": [said("user", "p")], "completion": [said("assistant", "bad")], "label": False},
        "standard": {"prompt": "p", "chosen": "good", "rejected": "bad"},
    }
    for name, row in formats.items():
        Dataset.from_list([row]).to_json(str(Path(folder) / f"{name}.jsonl"))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    read(arguments) if command == "read" else write(arguments[0])
