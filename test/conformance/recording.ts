import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * What the real server answered, kept for the unit tests: they replay it without the server. Written under
 * `SLIPWAY_UPDATE_GOLDEN=1`, one row per line.
 */
export class Recording<Row> {
  readonly #file: string;
  readonly #rows: Row[] = [];

  constructor(file: string) {
    this.#file = join(ROOT, file);
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  save(): void {
    if (process.env['SLIPWAY_UPDATE_GOLDEN'] !== '1') return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `[\n${this.#rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
  }
}

export const recorded = <Row>(file: string): readonly Row[] => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
