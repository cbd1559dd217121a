import type { JourneyListener } from '../../app/journey/event-stream.ts';
import type { Journey } from '../../app/journey/journey.ts';
import type { JourneyState } from '../../app/journey/state.ts';
import type { Clock } from '../../base/clock.ts';
import { eventLines, helpLines, type KeyAction, keyActions } from './keys.ts';
import { cutLine, type Line, type Look, lookFor, painted } from './line.ts';
import { permanentLines, regionLines } from './live-view.ts';
import { Region } from './region.ts';
import type { Glyphs } from './symbols.ts';
import type { Terminal } from './terminal.ts';

export interface LiveScreenOptions {
  readonly journey: Journey;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly glyphs: Glyphs;
  readonly isColoured: boolean;
  /** See {@link Region}. */
  readonly doesReflow: boolean;
}

/** At most ten pictures a second (experience X3). */
const DRAW_EVERY_MS = 100;
/** How often time and symbol of the phase at work move when nothing else happens. */
const TICK_MS = 250;
/** What a terminal that does not tell its size is taken for. */
const USUAL = { columns: 80, rows: 24 };

/** Permanent lines for a terminal of that look. */
type Layout = (look: Look) => readonly Line[];

/** Shows a journey on a terminal: draws when something changed, listens to keys, and always gives the cursor back. */
export class LiveScreen {
  readonly #options: LiveScreenOptions;
  readonly #region: Region;
  readonly #resources = new DisposableStack();
  /** Laid out when they are drawn: the terminal may have another width by then. */
  #pending: readonly Layout[] = [];
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #next: Disposable | undefined;
  #isClosed = false;

  constructor(options: LiveScreenOptions) {
    this.#options = options;
    this.#region = new Region((bytes) => options.terminal.write(bytes), options.doesReflow);
  }

  start(): void {
    const { terminal, journey } = this.#options;
    this.#resources.use(terminal.onExit(() => this.#close()));
    this.#resources.use(terminal.onResize(() => this.#resize()));
    this.#resources.use(journey.subscribe(this.#listener));
    const keys = terminal.keys?.listen((input) => {
      for (const action of keyActions(input)) this.#act(action);
    });
    if (keys !== undefined) this.#resources.use(keys);
  }

  [Symbol.dispose](): void {
    this.#close();
    this.#resources.dispose();
  }

  readonly #listener: JourneyListener = (event, after) => {
    const state = this.#withLiveAddresses(after);
    this.#add((look) => permanentLines(event, state, look));
  };

  #withLiveAddresses(state: JourneyState): JourneyState {
    const { journey } = this.#options;
    const phases = state.phases.map((phase) => ({
      ...phase,
      addresses: phase.addresses.map((address) => journey.liveAddress(address)),
    }));
    return { ...state, phases };
  }

  #add(lines: Layout): void {
    this.#pending = [...this.#pending, lines];
    const waitMs = this.#drawnAtMs + DRAW_EVERY_MS - this.#options.clock.monotonicMs();
    if (waitMs <= 0) this.#draw();
    else this.#drawIn(waitMs);
  }

  #draw(): void {
    if (this.#isClosed) return;
    const { journey, clock, terminal } = this.#options;
    const look = this.#look();
    this.#drawnAtMs = clock.monotonicMs();
    const region = regionLines(journey.state, {
      look,
      nowMs: journey.elapsedMs,
      frame: Math.floor(this.#drawnAtMs / TICK_MS),
      room: (terminal.rows() ?? USUAL.rows) - 2,
      hasKeys: terminal.keys !== undefined,
    });
    this.#region.update(this.#takePending(look), this.#painted(region, look));
    this.#drawIn(TICK_MS);
  }

  #drawIn(ms: number): void {
    this.#next?.[Symbol.dispose]();
    this.#next = this.#options.clock.timer(ms, () => this.#draw());
  }

  #takePending(look: Look): readonly string[] {
    const lines = this.#pending.flatMap((layout) => layout(look));
    this.#pending = [];
    return this.#painted(lines, look);
  }

  #painted(lines: readonly Line[], look: Look): readonly string[] {
    return lines.map((line) => painted(cutLine(line, look), this.#options.isColoured));
  }

  #look(): Look {
    return lookFor(this.#options.terminal.columns() ?? USUAL.columns, this.#options.glyphs);
  }

  #resize(): void {
    if (this.#isClosed) return;
    const { terminal } = this.#options;
    this.#region.resize(terminal.columns() ?? USUAL.columns, terminal.rows() ?? USUAL.rows);
    this.#draw();
  }

  #act(action: KeyAction): void {
    const { journey, terminal } = this.#options;
    const { state } = journey;
    switch (action) {
      case 'quit':
        return terminal.keys?.interrupt();
      case 'help':
        return this.#add(() => helpLines(state));
      case 'events':
        return this.#add((look) => eventLines(state, look));
      case 'retry':
        return journey.retry();
      case 'suspend':
        this.#region.close();
        return terminal.keys?.suspend(() => this.#draw());
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#next?.[Symbol.dispose]();
    this.#region.update(this.#takePending(this.#look()), []);
    this.#region.close();
    this.#isClosed = true;
  }
}
