"""An environment of our own making behind OpenEnv's own server: guess a number between 1 and 9, three tries."""

import sys

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Guess(Action):
    guess: str


class Answer(Observation):
    said: str = ""


class Numbers(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(step_count=0)
        self.secret = 1

    def reset(self, seed=None, **_):
        self.secret = (seed or 0) % 9 + 1
        self._state = State(step_count=0)
        return Answer(said="guess a number between 1 and 9", done=False, reward=None)

    def step(self, action, **_):
        self._state.step_count += 1
        if not action.guess.strip().isdigit():
            raise ValueError("not a number")
        guess = int(action.guess)
        right = guess == self.secret
        said = "right" if right else "higher" if guess < self.secret else "lower"
        return Answer(said=said, done=right or self._state.step_count >= 4, reward=float(right))

    @property
    def state(self):
        return self._state


port, sessions = int(sys.argv[1]), int(sys.argv[2])
app = create_app(Numbers, Guess, Answer, env_name="numbers", max_concurrent_envs=sessions)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
