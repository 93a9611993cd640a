"""Trajectories that `whetstone export RUN --to verifiers|minari|messages` wrote, read by their own tools.

    python trajectories.py verifiers traces.jsonl
    python trajectories.py minari episodes.jsonl
    python trajectories.py messages rows.jsonl
"""

import json
import sys


def verifiers(lines):
    from verifiers.v1 import WireTrace

    sampled = tokens = 0
    for line in lines:
        trace = WireTrace.model_validate_json(line)
        for branch in trace.branches:
            assert len(branch.token_ids) == len(branch.sampled_mask) == len(branch.logprobs)
            sampled += sum(branch.sampled_mask)
            tokens += len(branch.token_ids)
    print(f"verifiers: {len(lines)} traces, {tokens} tokens, {sampled} of them sampled")


def minari(lines):
    import gymnasium
    import minari as library
    from minari.data_collector import EpisodeBuffer

    texts = [text for line in lines for name in ("observations", "actions") for text in json.loads(line)[name]]
    text = gymnasium.spaces.Text(max(map(len, texts)), min_length=0, charset="".join(sorted(set("".join(texts)))))
    fields = ("observations", "actions", "rewards", "terminations", "truncations")
    buffers = []
    for n, line in enumerate(lines):
        row = json.loads(line)
        assert len(row["observations"]) == len(row["actions"]) + 1
        buffers.append(EpisodeBuffer(id=n, **{name: row[name] for name in fields}))
    name = "whetstone/check-v0"
    if name in library.list_local_datasets():
        library.delete_dataset(name)
    made = library.create_dataset_from_buffers(
        name, buffer=buffers, observation_space=text, action_space=text, data_format="arrow"
    )
    read = list(made.iterate_episodes())
    assert [list(e.actions) for e in read] == [json.loads(line)["actions"] for line in lines]
    print(f"minari: {made.total_episodes} episodes, {made.total_steps} steps")
    library.delete_dataset(name)


def messages(lines):
    from datasets import Dataset

    rows = Dataset.from_list([json.loads(line) for line in lines])
    print(f"datasets: {len(rows)} rows, columns {rows.column_names}")


if __name__ == "__main__":
    form, file = sys.argv[1:3]
    with open(file) as given:
        {"verifiers": verifiers, "minari": minari, "messages": messages}[form](given.read().splitlines())
