// For tests: the locks of a browser, which its windows share.
type Work = (lock: object | null) => unknown;
interface Options {
  ifAvailable?: boolean;
  signal?: AbortSignal;
}
interface Request {
  name: string;
  clientId: string;
  begin: () => void;
}

export class Locks {
  readonly held = new Map<string, string>();
  readonly pending: Request[] = [];

  /** What one window sees of them. */
  of(clientId: string): LockManager {
    const request = (name: string, ...[first, last]: [Work] | [Options, Work]): Promise<unknown> => {
      const options = typeof first === "function" ? {} : first;
      return this.ask(clientId, name, options, typeof first === "function" ? first : (last as Work));
    };
    const query = (): Promise<unknown> =>
      Promise.resolve({ held: [...this.held].map(([name, holder]) => ({ name, clientId: holder })), pending: this.pending.map(({ name, clientId: waiter }) => ({ name, clientId: waiter })) });
    return { request, query } as unknown as LockManager;
  }

  private async ask(clientId: string, name: string, { ifAvailable = false, signal }: Options, work: Work): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.held.has(name)) {
      if (ifAvailable) return work(null);
      await this.turn(clientId, name, signal);
    }
    this.held.set(name, clientId);
    try {
      return await work({ name });
    } finally {
      this.held.delete(name);
      this.pending.find((request) => request.name === name)?.begin();
    }
  }

  private turn(clientId: string, name: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((begin, refuse) => {
      const drop = (): void => void this.pending.splice(this.pending.indexOf(request), 1);
      const ended = (): void => {
        drop();
        refuse(new Error("the waiting was ended"));
      };
      const request: Request = {
        name,
        clientId,
        begin: () => {
          drop();
          signal?.removeEventListener("abort", ended);
          // Nobody else gets it in between.
          this.held.set(name, clientId);
          begin();
        },
      };
      this.pending.push(request);
      signal?.addEventListener("abort", ended);
    });
  }
}
