/** A pool of workers ("cells"). A cell takes one job at a time, is started on demand, and is discarded when a job times out or breaks it. */

/** Result of a job whose cell did not answer. */
export type Lost = { readonly lost: "late" } | { readonly lost: "died"; readonly message: string };

/** Handle of a worker thread or process. */
export interface Cell<Job> {
  send(job: Job): void;
  /** Terminates the cell immediately; the `died` event need not follow. */
  kill(): void;
  /** Sets whether the cell keeps this process alive. */
  hold(busy: boolean): void;
}

/** Events of a cell; `ready` comes first. */
export interface Events<Reply> {
  ready(): void;
  /** @param spoiled whether the cell must not be reused. */
  reply(reply: Reply, spoiled: boolean): void;
  died(message: string): void;
}

export interface PoolOptions<Job, Reply> {
  readonly open: (events: Events<Reply>) => Cell<Job>;
  /** Largest number of cells. */
  readonly size: number;
  /** Timeout of a job, in seconds of wall-clock time. */
  readonly seconds: number;
}

export interface Pool<Job, Reply> {
  /** Never rejects. */
  run(job: Job): Promise<Reply | Lost>;
  /** Terminates every cell; running and waiting jobs are lost. */
  close(): void;
}

interface Waiting<Job, Reply> {
  readonly job: Job;
  readonly resolve: (reply: Reply | Lost) => void;
}

interface Slot<Job, Reply> {
  take(work: Waiting<Job, Reply>): void;
  leave(why: Lost): void;
}

const secondsToStart = 60;
/** Grace period after the timeout, in which a reply that arrived while this thread was busy is still accepted. */
const graceMs = 100;

export function pool<Job, Reply>({ open, size, seconds }: PoolOptions<Job, Reply>): Pool<Job, Reply> {
  const waiting: Waiting<Job, Reply>[] = [];
  const idle: Slot<Job, Reply>[] = [];
  const slots = new Set<Slot<Job, Reply>>();
  let starting = 0;

  function serve(): void {
    while (waiting.length > 0 && idle.length > 0) idle.pop()!.take(waiting.shift()!);
    while (waiting.length > starting && slots.size < size) sit();
  }

  function sit(): void {
    let current: Waiting<Job, Reply> | undefined;
    let state: "starting" | "there" | "gone" = "starting";
    let timer: NodeJS.Timeout | undefined;
    const arrive = (): void => {
      if (state === "starting") starting--;
      clearTimeout(timer);
    };
    const slot: Slot<Job, Reply> = {
      take(work) {
        current = work;
        cell.hold(true);
        timer = setTimeout(() => {
          timer = setTimeout(() => slot.leave({ lost: "late" }), graceMs);
        }, seconds * 1000);
        cell.send(work.job);
      },
      leave(why) {
        if (state === "gone") return;
        // a cell that cannot start fails one job, so that no job waits for ever
        const work = state === "starting" ? waiting.shift() : current;
        arrive();
        state = "gone";
        slots.delete(slot);
        if (idle.includes(slot)) idle.splice(idle.indexOf(slot), 1);
        cell.kill();
        work?.resolve(why);
        serve();
      },
    };
    starting++;
    slots.add(slot);
    const cell = open({
      ready() {
        if (state !== "starting") return;
        arrive();
        state = "there";
        cell.hold(false);
        idle.push(slot);
        serve();
      },
      reply(reply, spoiled) {
        const work = current;
        if (state !== "there" || work === undefined) return;
        current = undefined;
        clearTimeout(timer);
        cell.hold(false);
        if (!spoiled) idle.push(slot);
        work.resolve(reply);
        if (spoiled) slot.leave({ lost: "died", message: "spoiled" });
        else serve();
      },
      died: (message) => slot.leave({ lost: "died", message }),
    });
    timer = setTimeout(
      () => slot.leave({ lost: "died", message: `not started after ${secondsToStart} s` }),
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
      for (const slot of [...slots]) slot.leave({ lost: "died", message: "closed" });
    },
  };
}
