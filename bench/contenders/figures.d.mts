export const positionals: readonly string[];
export const values: {
  readonly namespace: string;
  readonly count: string;
  readonly clients: string;
  readonly seconds: string;
};
export function say(value: unknown): Promise<void>;
export interface Taken {
  readonly count: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}
export function stopwatch(): (count: number) => Taken;
export function memory(): { readonly heapBytes: number; readonly rssBytes: number };
export function requests(read: (at: number) => Promise<unknown>): Promise<Taken>;
export class Arrivals {
  start(): (count: number) => Taken;
  note(mark: string | undefined): void;
  figures(taken: (count: number) => Taken): Taken & { readonly arrivals: Readonly<Record<string, number>> };
}
export function inputEnd(): Promise<void>;
export function sleep(ms: number): Promise<void>;
