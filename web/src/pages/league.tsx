/** A league that the command line played: ratings, stages of runs over time, who wins what from whom, and games to watch. */
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import type {
  LeagueDetail,
  LeagueGames,
  LeagueMemberRow,
  Value,
} from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Chart } from "../parts/chart.tsx";
import { useInAddress } from "../parts/inAddress.ts";
import { Long } from "../parts/long.tsx";
import { Many } from "../parts/many.tsx";
import { Failed, Waiting } from "../parts/notice.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { digits, moment, percent } from "../parts/words.ts";

export function League() {
  const { params } = useRoute();
  const now = useLoaded<LeagueDetail>(`/api/leagues/${encodeURIComponent(params.id ?? "")}`).value;
  if (now.state === "waiting") return <Waiting what="the league" />;
  if (now.state === "failed") return <Failed what="The league" why={now.why} />;
  return <Whole of={now.data} />;
}

const elo = (x: number): string => x.toFixed(0);

function Whole({ of: league }: { readonly of: LeagueDetail }) {
  const { environment, standing, gamesPerPair, at, id, failed, circles } = league;
  useEffect(() => {
    document.title = `League of ${environment} · Whetstone`;
  }, [environment]);
  const isExact = standing.some(({ exploitability }) => exploitability !== null);
  const columns: readonly Column<LeagueMemberRow>[] = [
    { name: "Member", class: "about", cell: ({ name }) => <bdi>{name}</bdi>, value: ({ name }) => name },
    {
      name: "Elo",
      cell: (m) => `${elo(m.elo)} [${elo(m.low)}, ${elo(m.high)}]`,
      value: (m) => m.elo,
    },
    { name: "Games", cell: ({ games }) => games },
    {
      name: "Won",
      cell: ({ won }) => (won === null ? "–" : percent(won)),
      value: ({ won }) => won,
    },
    ...(isExact
      ? [
          {
            name: "Exploitability",
            cell: ({ exploitability: x }: LeagueMemberRow) => (x === null ? "–" : digits(x)),
            value: ({ exploitability }: LeagueMemberRow) => exploitability,
          },
        ]
      : []),
  ];
  return (
    <>
      <p class="crumbs">
        <a href="/compare">Compare</a>
      </p>
      <h1>League of {environment}</h1>
      <p class="facts">
        {standing.length} members · {gamesPerPair} games a pair · {moment(new Date(at).toISOString())} ·{" "}
        <bdi>{id}</bdi>
        {failed > 0 && ` · ${failed} games failed and count nowhere`}
      </p>
      <Table
        label="Ratings"
        file={`${id} ratings`}
        rows={standing}
        keyOf={({ name }) => name}
        columns={columns}
      />
      <p class="faint">
        Elo is strength in the Bradley–Terry model of all games, around 1500, with an interval of 95 %. A draw
        is half a win.
        {isExact && " Exploitability is what a best opponent wins from a member in a game, beyond the value."}
      </p>
      <Stages of={standing} />
      <h2>Payoffs</h2>
      <Matrix of={league} />
      {circles.length > 0 && (
        <>
          <h2>Circles</h2>
          <p class="faint">Each beats the next, which no rating can show.</p>
          <Many items={circles} what="circles" first={10}>
            {(circle) => (
              <p key={circle.join(" ")}>
                <bdi>{[...circle, circle[0]].join(" beats ")}</bdi>
              </p>
            )}
          </Many>
        </>
      )}
      <Games of={league} />
    </>
  );
}

/** Ratings of what runs kept, by iteration. */
function Stages({ of: standing }: { readonly of: readonly LeagueMemberRow[] }) {
  const stages = standing.filter(({ checkpoint }) => checkpoint !== undefined);
  const byRun = [...Map.groupBy(stages, ({ checkpoint }) => checkpoint!.run)];
  const x = [...new Set(stages.map(({ checkpoint }) => checkpoint!.iteration))].sort((a, b) => a - b);
  if (x.length < 2) return null;
  const along = (its: readonly LeagueMemberRow[], of: (m: LeagueMemberRow) => Value): readonly Value[] =>
    x.map((iteration) => {
      const one = its.find(({ checkpoint }) => checkpoint!.iteration === iteration);
      return one ? of(one) : null;
    });
  return (
    <div class="charts">
      <Chart
        title="Rating over training"
        unit="Elo"
        x={x}
        lines={byRun.map(([name, its]) => ({
          name,
          values: along(its, (m) => m.elo),
          marked: true,
          range: { low: along(its, (m) => m.low), high: along(its, (m) => m.high) },
        }))}
        words={elo}
      />
      {stages.some(({ exploitability }) => exploitability !== null) && (
        <Chart
          title="Exploitability over training"
          x={x}
          lines={byRun.map(([name, its]) => ({ name, values: along(its, (m) => m.exploitability) }))}
        />
      )}
    </div>
  );
}

/** What each row wins from each column. A cell leads to games of the two. */
function Matrix({ of: { standing, payoffs, exact, id } }: { readonly of: LeagueDetail }) {
  const columns: readonly Column<number>[] = [
    {
      name: "Row wins from",
      class: "about",
      cell: (i) => <bdi>{`${i + 1} ${standing[i]!.name}`}</bdi>,
      value: (i) => standing[i]!.name,
    },
    ...standing.map(
      ({ name }, j): Column<number> => ({
        name: `${j + 1} ${name}`,
        head: <span title={name}>{j + 1}</span>,
        cell: (i) => (
          <Payoff row={standing[i]!.name} column={name} payoff={i === j ? null : payoffs[i]![j]!} />
        ),
        value: (i) => (i === j ? null : (payoffs[i]![j] ?? null)),
      }),
    ),
  ];
  return (
    <>
      <Table
        label="Payoffs"
        file={`${id} payoffs`}
        rows={standing.map((_, i) => i)}
        keyOf={(i) => standing[i]!.name}
        columns={columns}
      />
      <p class="faint">
        {exact ? "Expected payoffs" : "Mean payoffs of the games"} of the row against the column, over all
        roles. A number leads to games of the two.
      </p>
    </>
  );
}

function Payoff({
  row,
  column,
  payoff,
}: {
  readonly row: string;
  readonly column: string;
  readonly payoff: Value;
}) {
  if (payoff === null) return <span class="faint">·</span>;
  const tone = Math.abs(payoff) < 1e-9 ? "even" : payoff > 0 ? "good" : "bad";
  return (
    <a class={tone} href={`?${new URLSearchParams({ first: row, second: column })}#games`}>
      {digits(payoff)}
    </a>
  );
}

/** Two members are chosen; their first game of each seat is shown, move by move. */
function Games({ of: { id, standing } }: { readonly of: LeagueDetail }) {
  const { query, choose } = useInAddress();
  const [a = "", b = ""] = standing.map(({ name }) => name);
  const { first = a, second = b } = query;
  return (
    <section id="games" aria-label="Games">
      <h2>Games</h2>
      <form class="tools" onSubmit={(e) => e.preventDefault()}>
        <Player label="Of" name={first} of={standing} onChoose={(name) => choose({ first: name, second })} />
        <Player
          label="against"
          name={second}
          of={standing}
          onChoose={(name) => choose({ first, second: name })}
        />
      </form>
      {first === second ? (
        <p class="faint">Nobody plays against itself: choose two members.</p>
      ) : (
        <Replays key={`${first} ${second}`} id={id} first={first} second={second} />
      )}
    </section>
  );
}

interface PlayerProps {
  readonly label: string;
  readonly name: string;
  readonly of: readonly LeagueMemberRow[];
  readonly onChoose: (name: string) => void;
}

function Player({ label, name, of, onChoose }: PlayerProps) {
  return (
    <label>
      {label}{" "}
      <select value={name} onChange={(e) => onChoose(e.currentTarget.value)}>
        {of.map((member) => (
          <option key={member.name} value={member.name}>
            {member.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Replays({
  id,
  first,
  second,
}: {
  readonly id: string;
  readonly first: string;
  readonly second: string;
}) {
  const asked = new URLSearchParams({ first, second });
  const now = useLoaded<LeagueGames>(`/api/leagues/${encodeURIComponent(id)}/games?${asked}`).value;
  if (now.state === "waiting") return <Waiting what="the games" />;
  if (now.state === "failed") return <Failed what="The games" why={now.why} />;
  const { replays, ...pair } = now.data;
  if (replays.length === 0) return <p class="faint">No game of the two was kept.</p>;
  return (
    <>
      {replays.map(({ seat, moves, left, payoffs: [own, other] }) => (
        <section key={seat} class="card" aria-label={`${pair.first} plays ${seat}`}>
          <h3>
            <bdi>{pair.first}</bdi> plays {seat}
          </h3>
          <ol class="conversation">
            <Many items={moves} what="moves" first={40} listed>
              {({ role, by, read, said }, i) => (
                <li class="turn" key={`${i} ${role}`}>
                  {read !== "" && (
                    <div class="said user">
                      <div class="who">{role} reads</div>
                      <div class="tokens">
                        <Long text={read} />
                      </div>
                    </div>
                  )}
                  <div class="said acted">
                    <div class="who">
                      <bdi>{by}</bdi>, {role}
                    </div>
                    <div class="tokens">
                      <Long text={said} />
                    </div>
                  </div>
                </li>
              )}
            </Many>
          </ol>
          <p class="facts">
            {left > 0 && `${left} more moves are not kept · `}
            <bdi>{pair.first}</bdi> {digits(own)} · <bdi>{pair.second}</bdi> {digits(other)}
          </p>
        </section>
      ))}
    </>
  );
}
