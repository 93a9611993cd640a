"""OpenEnv's own client against a server of ours: walks through episodes that it knows the answers of."""

import json
import sys

from openenv.core.generic_client import GenericEnvClient

url, episodes = sys.argv[1], int(sys.argv[2])
rewards = []
for index in range(episodes):
    with GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(split="train", index=index)
        total, done = 0.0, False
        while not done:
            # the world of words: whatever was said last is said back
            result = env.step({"message": result.observation["messages"][-1]["content"]})
            total, done = total + float(result.reward or 0), result.done
        rewards.append([total, result.observation.get("success")])
print(json.dumps(rewards))
