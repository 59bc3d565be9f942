// The page's end of the worker that highlights code. One worker serves all blocks.
import type { Reply, Request, Token } from "./token";

/** A worker that is silent for so long is ended: the text was too hard for its grammar. In milliseconds. */
const PATIENCE = 4000;

export interface Paper {
  /** Asks for colours of this text, which may continue the last one. */
  paint(text: string): void;
  close(): void;
}

interface Client {
  language: string;
  lines: Token[][];
  /** What the worker was given last. */
  asked: string;
  /** What waits until the worker is free of this client. */
  next: string | null;
  busy: boolean;
  draw: (lines: readonly Token[][]) => void;
}

/** `make` starts a worker, where there are workers. */
export class Painter {
  private worker: Worker | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly clients = new Map<number, Client>();
  /** The clients that wait for the worker, in order. */
  private readonly queue: number[] = [];
  private count = 0;

  constructor(private readonly make: () => Worker | null) {}

  open(language: string, draw: Client["draw"]): Paper {
    const id = (this.count += 1);
    this.clients.set(id, { language, lines: [], asked: "", next: null, busy: false, draw });
    return {
      paint: (text) => this.paint(id, text),
      close: () => {
        if (this.clients.delete(id) && !this.queue.includes(id)) this.send({ id, end: true });
      },
    };
  }

  private paint(id: number, text: string): void {
    const client = this.clients.get(id);
    if (!client) return;
    if (client.busy) {
      client.next = text;
      return;
    }
    client.busy = true;
    client.next = null;
    client.asked = text;
    this.queue.push(id);
    this.send({ id, language: client.language, text });
    this.watch();
  }

  private send(request: Request): void {
    if (this.worker === null) {
      if ("end" in request) return;
      this.worker = this.make();
      this.worker?.addEventListener("message", (event: MessageEvent<Reply>) => this.receive(event.data));
    }
    this.worker?.postMessage(request);
  }

  private receive(reply: Reply): void {
    const place = this.queue.indexOf(reply.id);
    if (place >= 0) this.queue.splice(place, 1);
    this.watch();
    const client = this.clients.get(reply.id);
    if (!client) {
      this.send({ id: reply.id, end: true });
      return;
    }
    if ("none" in reply) {
      this.clients.delete(reply.id);
      return;
    }
    client.busy = false;
    client.lines = [...client.lines.slice(0, reply.from), ...reply.lines];
    client.draw(client.lines);
    if (client.next !== null) this.paint(reply.id, client.next);
  }

  /** The first in the queue is at work. */
  private watch(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = this.queue.length === 0 ? null : setTimeout(() => this.giveUp(), PATIENCE);
  }

  /** Ends the worker. The text at which it hung stays without colours; the others are painted by the next worker. */
  private giveUp(): void {
    this.worker?.terminate();
    this.worker = null;
    this.timer = null;
    const hung = this.queue.shift();
    if (hung !== undefined) this.clients.delete(hung);
    const waiting = new Set(this.queue.splice(0));
    for (const [id, client] of this.clients) {
      client.busy = false;
      if (client.next !== null || waiting.has(id)) this.paint(id, client.next ?? client.asked);
    }
  }
}
