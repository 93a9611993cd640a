"""Trajectories of ours in the hands of verifiers, Minari and datasets: read as their own tools do, and written by them.

    python trajectories.py FORM FROM TO

FROM is what `whetstone export RUN --to FORM` wrote. TO gets the same as the tool itself writes it, for `whetstone import`.
"""

import json
import sys
import tempfile
from pathlib import Path


def rows_of(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def verifiers(source, target):
    from verifiers.v1 import WireTrace
    from verifiers.v1.utils.trace_store import TRACES_FILE, read_episodes, write_episode

    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder, TRACES_FILE)
        given.write_bytes(Path(source).read_bytes())
        episodes = read_episodes(Path(folder), WireTrace)
        given.unlink()
        for episode in episodes:
            write_episode(Path(folder), episode)
        Path(target).write_bytes(given.read_bytes())
    traces = [trace for episode in episodes for trace in episode.traces]
    sampled = tokens = 0
    for trace in traces:
        for branch in trace.branches:
            assert len(branch.token_ids) == len(branch.sampled_mask) == len(branch.logprobs)
            sampled += sum(branch.sampled_mask)
            tokens += len(branch.token_ids)
    told = {
        "rows": len(episodes),
        "trajectories": len(traces),
        "reward": sum(trace.reward for trace in traces),
        "tokens": tokens,
        "sampled": sampled,
    }
    return told


def minari(source, target):
    import gymnasium
    import minari as library
    import numpy as np
    from minari.data_collector import EpisodeBuffer

    rows = rows_of(source)
    texts = [text for row in rows for name in ("observations", "actions") for text in row[name]]
    space = gymnasium.spaces.Text(max(map(len, texts)), min_length=0, charset="".join(sorted(set("".join(texts)))))
    # JSON tells no whole number from one with a point: Minari wants the same kind everywhere
    buffers = [EpisodeBuffer(**row | {"rewards": np.array(row["rewards"], float)}) for row in rows]
    name = "whetstone/check-v0"
    if name in library.list_local_datasets():
        library.delete_dataset(name)
    made = library.create_dataset_from_buffers(
        name, buffer=buffers, observation_space=space, action_space=space, data_format="arrow"
    )
    known = made.storage.get_episode_metadata(range(len(rows)))
    reward = steps = 0
    with open(target, "w", encoding="utf-8") as written:
        for row, episode, about in zip(rows, made.iterate_episodes(), known, strict=True):
            assert about["options"] == row["options"]
            reward += episode.rewards.sum()
            steps += len(episode)
            lists = ("observations", "actions", "rewards", "terminations", "truncations")
            taken = {field: np.asarray(getattr(episode, field)).tolist() for field in lists}
            infos = {field: values.tolist() for field, values in episode.infos.items()}
            said = {"id": int(episode.id), "options": about["options"], **taken, "infos": infos}
            written.write(json.dumps(said) + "\n")
    library.delete_dataset(name)
    return {"rows": len(rows), "trajectories": len(rows), "reward": float(reward), "steps": steps}


def messages(source, target):
    from datasets import load_dataset
    from trl.data_utils import is_conversational

    # else it infers columns from the first 10 MB, and fails where a later row has more
    rows = load_dataset("json", data_files=source, split="train", chunksize=Path(source).stat().st_size)
    assert all(is_conversational(row) for row in rows)
    rows.to_json(target)
    told = {"rows": len(rows), "trajectories": len(rows), "reward": sum(rows["reward"]), "columns": rows.column_names}
    return told


if __name__ == "__main__":
    form, *files = sys.argv[1:]
    print(json.dumps({"verifiers": verifiers, "minari": minari, "messages": messages}[form](*files)))
