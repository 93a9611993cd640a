/** One episode as a conversation, with what each word earned painted on it. */
import { memo } from "preact/compat";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type {
  EpisodeDetail,
  EpisodeTurn,
  Relative,
  SaidMessage,
} from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Filmstrip } from "../parts/filmstrip.tsx";
import { useKeys } from "../parts/keys.ts";
import { Long } from "../parts/long.tsx";
import { Many } from "../parts/many.tsx";
import { Failed, Waiting } from "../parts/notice.tsx";
import { signed, toneOf } from "../parts/reward.tsx";
import { type Layer, spaced, Tokens } from "../parts/tokens.tsx";
import { digits } from "../parts/words.ts";
import { episodePath, nameOf } from "./episodes.tsx";

const layers: readonly (readonly [layer: Layer, name: string])[] = [
  ["advantage", "Advantage"],
  ["logp", "Log-probability"],
  ["entropy", "Entropy"],
  ["plain", "Nothing"],
];

export function Episode() {
  const { params, query } = useRoute();
  const run = params.id ?? "";
  const loaded = useLoaded<EpisodeDetail>(
    `/api/runs/${encodeURIComponent(run)}/episode?${new URLSearchParams(named(query))}`,
  );
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the episode" />;
  if (now.state === "failed") return <Failed what="The episode" why={now.why} />;
  return (
    <Whole key={`${now.data.phase} ${now.data.iteration} ${now.data.id}`} episode={now.data} run={run} />
  );
}

/** What names an episode; an address may say more. */
const named = ({ id = "", phase = "", iteration = "" }: Readonly<Record<string, string>>) => ({
  id,
  phase,
  iteration,
});

/** Turn and token that the address points at, as in `#t2.17`. */
function pointedAt(): { readonly turn: number; readonly token: number } | undefined {
  const found = /^#t(\d+)\.(\d+)$/.exec(location.hash);
  return found ? { turn: Number(found[1]), token: Number(found[2]) } : undefined;
}

function Whole({ episode, run }: { readonly episode: EpisodeDetail; readonly run: string }) {
  const { route } = useLocation();
  const turns = episode.conversation;
  const offered = useMemo(
    () =>
      layers.filter(
        ([layer]) => layer === "plain" || turns.some(({ tokens }) => tokens?.[layer] && tokens.pieces),
      ),
    [turns],
  );
  const [layer, setLayer] = useState<Layer>(offered[0]?.[0] ?? "plain");
  const [chosen, setChosen] = useState(pointedAt);
  const choose = useCallback((turn: number, token: number) => setChosen({ turn, token }), []);
  const scale = useMemo(() => scaleOf(turns, layer), [turns, layer]);

  useEffect(() => {
    if (!chosen) return;
    document.getElementById(`t${chosen.turn}.${chosen.token}`)?.scrollIntoView({ block: "nearest" });
    // browsers refuse an address that changes as often as a key repeats that is held down
    const settled = setTimeout(
      () => history.replaceState(history.state, "", `#t${chosen.turn}.${chosen.token}`),
      150,
    );
    return () => clearTimeout(settled);
  }, [chosen]);

  const keys = useMemo(() => {
    const count = (turn: number): number => turns[turn]?.tokens?.pieces?.length ?? 0;
    const { turn, token } = chosen ?? { turn: 0, token: -1 };
    const to = (turn: number, token: number) => (): void => {
      if (turn >= 0 && turn < turns.length && token >= 0 && token < count(turn)) setChosen({ turn, token });
    };
    const me = episode.family.findIndex(({ id }) => id === episode.id);
    const sibling = (by: number) => (): void => {
      const next = episode.family[me + by];
      if (next) route(episodePath(run, next));
    };
    const right = token + 1 < count(turn) ? to(turn, token + 1) : to(turn + 1, 0);
    const left = token > 0 ? to(turn, token - 1) : to(turn - 1, count(turn - 1) - 1);
    return [
      { key: "j", does: "next turn", act: to(chosen ? turn + 1 : 0, 0) },
      { key: "k", does: "turn before", act: to(turn - 1, 0) },
      { key: "ArrowRight", does: "next token", act: right },
      { key: "ArrowLeft", does: "token before", act: left },
      { key: "h", does: "episode of the same task before", act: sibling(-1) },
      { key: "l", does: "next episode of the same task", act: sibling(1) },
    ];
  }, [chosen, turns, episode, run, route]);
  useKeys(keys);

  return (
    <>
      <p class="crumbs">
        <a href={`/runs/${encodeURIComponent(run)}`}>{nameOf(run)}</a> ›{" "}
        <a href={`/runs/${encodeURIComponent(run)}/episodes`}>episodes</a>
      </p>
      <h1>
        <bdi>{askedIn(turns) || episode.task}</bdi>
      </h1>
      <p class="facts">
        <bdi>{episode.id}</bdi> · {episode.outcome}: {episode.end} · reward{" "}
        {episode.reward === null ? "not paid" : digits(episode.reward)} · {episode.turns} turns · iteration{" "}
        {episode.iteration}, {episode.phase} · {episode.origin}
      </p>
      <div class="tools">
        <fieldset class="choice">
          <legend>Painted on the tokens</legend>
          {offered.map(([name, label]) => (
            <label key={name}>
              <input type="radio" name="layer" checked={layer === name} onChange={() => setLayer(name)} />{" "}
              {label}
            </label>
          ))}
        </fieldset>
        <Scale layer={layer} scale={scale} />
        <span class="faint">j k turns · ← → tokens · h l siblings</span>
      </div>
      <Filmstrip turns={turns} />
      <div class="reading">
        <ol class="conversation">
          {turns.map((turn, k) => (
            <Turn
              key={k}
              turn={turn}
              index={k}
              layer={layer}
              scale={scale}
              chosen={chosen?.turn === k ? chosen.token : undefined}
              choose={choose}
            />
          ))}
        </ol>
        <aside>
          <Chosen turns={turns} chosen={chosen} />
          <Family episode={episode} run={run} />
        </aside>
      </div>
    </>
  );
}

/** The beginning of what was asked. */
function askedIn([first]: readonly EpisodeTurn[]): string {
  const asked = first?.read.findLast(({ role }) => role === "user")?.content ?? "";
  return asked.length > 200 ? `${asked.slice(0, 200).toWellFormed()}…` : asked;
}

function scaleOf(turns: readonly EpisodeTurn[], layer: Layer): number {
  if (layer === "plain") return 0;
  let most = 0;
  for (const { tokens } of turns)
    for (const x of tokens?.[layer] ?? []) most = Math.max(most, Math.abs(x ?? 0));
  return most;
}

function Scale({ layer, scale }: { readonly layer: Layer; readonly scale: number }) {
  if (layer === "plain" || scale === 0) return null;
  if (layer === "advantage") {
    return (
      <span class="scale">
        <span class="token down6">less likely, {digits(-scale)}</span>{" "}
        <span class="token up6">more likely, +{digits(scale)}</span>
      </span>
    );
  }
  return (
    <span class="scale">
      <span class="token much6">
        {layer === "logp" ? `surprising, ${digits(-scale)}` : `open, ${digits(scale)}`} nats
      </span>
    </span>
  );
}

interface TurnProps {
  readonly turn: EpisodeTurn;
  readonly index: number;
  readonly layer: Layer;
  readonly scale: number;
  readonly chosen: number | undefined;
  readonly choose: (turn: number, token: number) => void;
}

const Turn = memo(({ turn, index, layer, scale, chosen, choose }: TurnProps) => {
  const { tokens } = turn;
  const pieces = useMemo(() => (tokens?.pieces ? spaced(tokens.pieces) : undefined), [tokens]);
  const credit = mean(tokens?.advantage);
  const clicked = (e: MouseEvent): void => {
    const token = e.target instanceof HTMLElement ? e.target.dataset.token : undefined;
    if (token !== undefined) choose(index, Number(token));
  };
  return (
    <li class="turn" id={`turn-${index}`}>
      <Many items={turn.read} what="messages" first={50}>
        {(message, i) => <Said key={i} message={message} />}
      </Many>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: arrow keys walk over tokens, see above */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click is a second way */}
      <div class="said acted" onClick={clicked}>
        <div class="who">{turn.role}</div>
        <bdi>
          {tokens && pieces ? (
            <Tokens
              turn={index}
              tokens={tokens}
              pieces={pieces}
              layer={layer}
              scale={scale}
              chosen={chosen}
            />
          ) : (
            <div class="tokens">
              <Long text={turn.action.content} />
            </div>
          )}
        </bdi>
        {turn.action.calls?.map((call) => (
          <Call key={call.name} {...call} />
        ))}
      </div>
      <p class="earned">
        Turn {index + 1}
        {credit !== undefined && (
          <>
            {" "}
            · credit <b class={toneOf(credit)}>{signed(credit)}</b>
          </>
        )}
        {Object.entries(turn.rewards).map(([name, value]) => (
          <span key={name}>
            {" "}
            · {name} <b class={toneOf(value)}>{signed(value)}</b>
          </span>
        ))}
        {turn.stop !== "eos" && <span> · stopped: {turn.stop}</span>}
        {turn.text && (
          <span class="feedback">
            {" "}
            · “<Long text={turn.text} />”
          </span>
        )}
      </p>
    </li>
  );
});

function Said({ message }: { readonly message: SaidMessage }) {
  return (
    <div class={`said ${message.role}`}>
      <div class="who">{message.role}</div>
      <bdi>
        <div class="tokens">
          <Long text={message.content} />
        </div>
      </bdi>
      {message.calls?.map((call) => (
        <Call key={call.name} {...call} />
      ))}
    </div>
  );
}

const Call = ({ name, arguments: given }: { readonly name: string; readonly arguments: string }) => (
  <div class="call">
    calls <b>{name}</b>{" "}
    <code>
      <Long text={given} />
    </code>
  </div>
);

function Chosen({
  turns,
  chosen,
}: {
  readonly turns: readonly EpisodeTurn[];
  readonly chosen: { turn: number; token: number } | undefined;
}) {
  const tokens = chosen && turns[chosen.turn]?.tokens;
  if (!chosen || !tokens) return <p class="faint">Choose a token to see its numbers.</p>;
  const at = chosen.token;
  const rows: readonly (readonly [string, number | null | undefined])[] = [
    ["Advantage", tokens.advantage?.[at]],
    ["Log-probability", tokens.logp[at]],
    ["Entropy", tokens.entropy?.[at]],
    ["Token id", tokens.ids[at]],
  ];
  return (
    <div class="boxed" role="status">
      <p>
        Turn {chosen.turn + 1}, token {at}: <code>{JSON.stringify(tokens.pieces?.[at] ?? "")}</code>
      </p>
      <dl>
        {rows.map(
          ([name, value]) =>
            value != null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{name === "Token id" ? value : digits(value)}</dd>
              </div>
            ),
        )}
      </dl>
      {tokens.forced?.[at] ? <p>Forced: no choice of the policy.</p> : null}
    </div>
  );
}

/** The episodes of the same task, each under the one that it came from. */
function Family({ episode, run }: { readonly episode: EpisodeDetail; readonly run: string }) {
  const { family } = episode;
  if (family.length < 2) return null;
  const known = new Set(family.map(({ id }) => id));
  const under = (parent: string | undefined) =>
    family.filter((r) => (r.parent && known.has(r.parent.id) ? r.parent.id : undefined) === parent);
  const branch = (parent: string | undefined, depth: number) => {
    const children = depth > 8 ? [] : under(parent);
    return children.length === 0 ? null : (
      <ul>
        {children.map((r) => (
          <li key={r.id}>
            <Member member={r} run={run} here={r.id === episode.id} />
            {branch(r.id, depth + 1)}
          </li>
        ))}
      </ul>
    );
  };
  return (
    <nav class="family" aria-label="Episodes of the same task">
      <h2>Same task</h2>
      {branch(undefined, 0)}
    </nav>
  );
}

function Member({
  member,
  run,
  here,
}: {
  readonly member: Relative;
  readonly run: string;
  readonly here: boolean;
}) {
  const why = member.parent ? `${member.parent.why} from turn ${member.parent.turn + 1}: ` : "";
  return (
    <a href={episodePath(run, member)} aria-current={here ? "page" : undefined}>
      {why}
      {member.outcome}
      {member.reward === null ? "" : `, ${digits(member.reward)}`}
    </a>
  );
}

function mean(xs: readonly (number | null)[] | undefined): number | undefined {
  const there = xs?.filter((x) => x !== null) ?? [];
  return there.length === 0 ? undefined : there.reduce((a, b) => a + b, 0) / there.length;
}
