/** Cells that take one job at a time, are started when needed, and thrown away when a job takes too long or breaks one. */

/** What becomes of a job whose cell did not answer. */
export type Lost = { readonly lost: "late" } | { readonly lost: "died"; readonly message: string };

/** A thread or process from this side. */
export interface Cell<Job> {
  send(job: Job): void;
  /** At once and without asking; `died` need not follow. */
  kill(): void;
  /** Whether this process stays alive for it. */
  hold(busy: boolean): void;
}

/** What a cell tells; `ready` before all else. */
export interface Events<Reply> {
  ready(): void;
  /** @param spoiled whether the cell is not to be used again. */
  reply(reply: Reply, spoiled: boolean): void;
  died(message: string): void;
}

export interface PoolOptions<Job, Reply> {
  readonly open: (events: Events<Reply>) => Cell<Job>;
  /** Cells at once. */
  readonly size: number;
  /** Longest wait for a reply, on the wall clock. */
  readonly seconds: number;
}

export interface Pool<Job, Reply> {
  /** Never rejects. */
  run(job: Job): Promise<Reply | Lost>;
  /** Ends every cell; jobs under way or waiting are lost. */
  close(): void;
}

interface Waiting<Job, Reply> {
  readonly job: Job;
  readonly resolve: (reply: Reply | Lost) => void;
}

interface Seat<Job, Reply> {
  take(work: Waiting<Job, Reply>): void;
  leave(why: Lost): void;
}

const secondsToStart = 60;
/** After the time is up: a reply that already lies there while this thread was busy still counts. */
const graceMs = 100;

export function pool<Job, Reply>({ open, size, seconds }: PoolOptions<Job, Reply>): Pool<Job, Reply> {
  const waiting: Waiting<Job, Reply>[] = [];
  const idle: Seat<Job, Reply>[] = [];
  const seats = new Set<Seat<Job, Reply>>();
  let starting = 0;

  function serve(): void {
    while (waiting.length > 0 && idle.length > 0) idle.pop()!.take(waiting.shift()!);
    while (waiting.length > starting && seats.size < size) sit();
  }

  function sit(): void {
    let current: Waiting<Job, Reply> | undefined;
    let state: "starting" | "there" | "gone" = "starting";
    let timer: NodeJS.Timeout | undefined;
    const arrive = (): void => {
      if (state === "starting") starting--;
      clearTimeout(timer);
    };
    const seat: Seat<Job, Reply> = {
      take(work) {
        current = work;
        cell.hold(true);
        timer = setTimeout(() => {
          timer = setTimeout(() => seat.leave({ lost: "late" }), graceMs);
        }, seconds * 1000);
        cell.send(work.job);
      },
      leave(why) {
        if (state === "gone") return;
        // one that cannot start takes a job with it, so that no job waits for ever
        const work = state === "starting" ? waiting.shift() : current;
        arrive();
        state = "gone";
        seats.delete(seat);
        if (idle.includes(seat)) idle.splice(idle.indexOf(seat), 1);
        cell.kill();
        work?.resolve(why);
        serve();
      },
    };
    starting++;
    seats.add(seat);
    const cell = open({
      ready() {
        if (state !== "starting") return;
        arrive();
        state = "there";
        cell.hold(false);
        idle.push(seat);
        serve();
      },
      reply(reply, spoiled) {
        const work = current;
        if (state !== "there" || work === undefined) return;
        current = undefined;
        clearTimeout(timer);
        cell.hold(false);
        if (!spoiled) idle.push(seat);
        work.resolve(reply);
        if (spoiled) seat.leave({ lost: "died", message: "spoiled" });
        else serve();
      },
      died: (message) => seat.leave({ lost: "died", message }),
    });
    timer = setTimeout(
      () => seat.leave({ lost: "died", message: `not started after ${secondsToStart} s` }),
      secondsToStart * 1000,
    );
  }

  return {
    run: (job) =>
      new Promise((resolve) => {
        waiting.push({ job, resolve });
        serve();
      }),
    close() {
      for (const { resolve } of waiting.splice(0)) resolve({ lost: "died", message: "closed" });
      for (const seat of [...seats]) seat.leave({ lost: "died", message: "closed" });
    },
  };
}
