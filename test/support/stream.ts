import { until } from './world.js';

export interface Told {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** A client of `GET /api/events`. */
export class EventStream {
  readonly told: Told[] = [];
  /** The last received id, with or without an event. */
  last = '';
  /** All received text. */
  text = '';
  ended = false;

  private constructor(
    readonly answer: Response,
    private readonly abort: AbortController,
  ) {}

  static async open(url: string, token: string, lastEventId?: string): Promise<EventStream> {
    const abort = new AbortController();
    const answer = await fetch(`${url}/api/events`, {
      headers: {
        authorization: `Bearer ${token}`,
        'accept-encoding': 'gzip',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal: abort.signal,
    });
    const stream = new EventStream(answer, abort);
    if (answer.status === 200) void stream.read();
    else await answer.text();
    return stream;
  }

  /** Waits for the next unread event. */
  async next(what: string, fits: (told: Told) => boolean = () => true): Promise<Told> {
    let found = -1;
    await until(what, async () => {
      found = this.told.findIndex(fits);
      return found >= 0;
    });
    return this.told.splice(found, 1)[0] as Told;
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    let rest = '';
    try {
      for await (const chunk of (this.answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
        this.text += chunk;
        const frames = (rest + chunk).split('\n\n');
        rest = frames.pop() as string;
        for (const frame of frames) this.take(frame);
      }
    } catch {
      // closed by the test, or the connection was lost
    }
    this.ended = true;
  }

  private take(frame: string): void {
    const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
    if (fields.id) this.last = fields.id;
    if (fields.data) this.told.push({ id: this.last, event: fields.event, data: JSON.parse(fields.data) });
  }
}
