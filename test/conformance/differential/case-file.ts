import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

/** The section 26 entries (and the two of sections 6 and 5) where an answer of ours may differ. */
const DEVIATIONS = ['C1', 'C3', 'D5', 'D7', 'E15', 'H4', 'S8', 'S14', 'T2', 'U8', 'X4', 'X17', 'X31', 'X34'];

/** What a case sends or waits for; every field may hold `${variables}`. */
export interface Step {
  /** `POST /api/v1/…`, the request line. */
  readonly do?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly as?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Short for the content type of a patch. */
  readonly type?: 'json' | 'merge' | 'strategic' | 'apply';
  readonly body?: unknown;
  /** A body as it is, for what no YAML can say. */
  readonly text?: string;
  /** A body of this many bytes: the text between `head` and `tail` is repeated letters. */
  readonly filler?: { readonly head: string; readonly tail: string; readonly bytes: number };
  readonly protobuf?: { readonly apiVersion: string; readonly kind: string; readonly raw: unknown };
  /** Runs the step once per value, which `${each}` holds. */
  readonly each?: readonly unknown[];
  readonly save?: Readonly<Record<string, string>>;
  /** Facts that hold on both sides: paths of the answer and their values. */
  readonly expect?: Readonly<Record<string, unknown>>;
  /** Sends again until this holds; only the last answer counts. */
  readonly until?: Readonly<Record<string, unknown>>;
  /** Opens a watch under this name. */
  readonly watch?: string;
  /** The next events of a watch, or everything until it ends. */
  readonly collect?: { readonly watch: string; readonly events?: number; readonly end?: boolean };
  /** What a webhook of the case was asked. */
  readonly calls?: { readonly hook: string; readonly last: number };
  readonly compare?: Comparison;
  readonly deviation?: Deviation;
}

export interface Comparison {
  readonly ignore?: readonly string[];
  /** Compares only these parts of the body. */
  readonly only?: readonly string[];
  /** Compares the status and the headers, not the body. */
  readonly body?: false;
  readonly headers?: false;
  /** Lists whose order upstream does not promise. */
  readonly unordered?: readonly string[];
}

export interface Deviation {
  readonly id: string;
  /** Upstream answers now like this, now like us. */
  readonly optional?: boolean;
  /** What we answer instead: paths of `{status, headers, body}` and their values. */
  readonly ours: Readonly<Record<string, unknown>>;
}

export interface Case {
  readonly name: string;
  /** `ready` waits for what controllers put into a new namespace; `none` makes no namespace. */
  readonly namespace?: 'bare' | 'ready' | 'none';
  readonly webhooks?: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

export interface CaseFile {
  readonly file: string;
  /** Steps that run once, before the cases; what they save, the cases see. */
  readonly setup: readonly Step[];
  readonly cases: readonly Case[];
}

const NAME = /^apiserver\/[A-Z]+\d+(?:, [A-Z]+\d+)*: \S/;

/** Every file of a directory of cases. A mistake in one is an error that names it. */
export function loadCaseFiles(directory: string): readonly CaseFile[] {
  return globSync('*.yaml', { cwd: directory })
    .sort()
    .map((file) => parseCaseFile(readFileSync(join(directory, file), 'utf8'), basename(file, '.yaml')));
}

export function parseCaseFile(text: string, file: string): CaseFile {
  const { setup = [], cases } = parse(text, { merge: true, maxAliasCount: 1000 }) as Partial<CaseFile>;
  if (!Array.isArray(cases)) throw new Error(`${file}: holds no cases`);
  const names = new Set<string>();
  for (const { name, steps } of cases as readonly Case[]) {
    if (typeof name !== 'string' || !NAME.test(name)) throw new Error(`${file}: "${name}" names no rule`);
    if (names.has(name)) throw new Error(`${file}: two cases are called "${name}"`);
    names.add(name);
    steps.forEach((step, index) => checkStep(step, `${file}: ${name}: step ${index + 1}`));
  }
  setup.forEach((step, index) => checkStep(step, `${file}: setup step ${index + 1}`));
  return { file, setup, cases };
}

const STEP_KEYS = new Set(
  (
    'do query as token headers type body text filler protobuf each save expect until watch collect calls compare ' +
    'deviation'
  ).split(' '),
);

function checkStep(step: Step, where: string): void {
  const unknown = Object.keys(step).find((key) => !STEP_KEYS.has(key));
  if (unknown !== undefined) throw new Error(`${where}: unknown key ${unknown}`);
  const kinds = [step.do, step.collect, step.calls].filter((kind) => kind !== undefined);
  if (kinds.length !== 1) throw new Error(`${where}: needs exactly one of do, collect and calls`);
  if (step.deviation !== undefined && !DEVIATIONS.includes(step.deviation.id)) {
    throw new Error(`${where}: ${step.deviation.id} is no deliberate deviation (section 26)`);
  }
}
