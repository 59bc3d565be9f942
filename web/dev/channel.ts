// For tests: a channel between the windows of a browser, without a thread of its own.
export class Channel {
  static readonly all = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;

  constructor(private readonly name: string) {
    Channel.all.add(this);
  }

  postMessage(data: unknown): void {
    for (const channel of Channel.all) if (channel !== this && channel.name === this.name) queueMicrotask(() => channel.onmessage?.({ data }));
  }

  close(): void {
    this.onmessage = null;
    Channel.all.delete(this);
  }
}
