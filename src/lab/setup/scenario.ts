import { z } from 'zod';
import { messageOf, userError } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { parseLocatedYaml } from '../../object/yaml.ts';
import { FIRST_OCTET, LAST_OCTET } from '../address/address-scheme.ts';
import type { ClockMode } from '../clock/lab-clock.ts';
import { type CloudSetup, type ClusterSetup, type LabOptions, type MetalSetup, STAND_INS } from './lab-options.ts';
import { allowedText, type Field, fieldAt, wordsOf } from './scenario-values.ts';

const count = z.int().min(0).max(253);
const milliseconds = z.int().min(0);
const name = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a name such as hub or c1');

/** YAML makes numbers of `4` and of `16`, which are quantities like `16Gi`. */
const NO_QUANTITY = 'must be a quantity such as 4, 500m or 16Gi';
const quantity = z.union([z.string(), z.number()], NO_QUANTITY).transform(String).refine(isQuantity, NO_QUANTITY);

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

const clockMode = z
  .string()
  .regex(/^(real|auto|scaled:\d+(\.\d+)?)$/, 'must be real, auto, or scaled:N with N the factor')
  .transform((text): ClockMode => {
    if (text === 'real' || text === 'auto') return text;
    return { scaled: Number(text.slice('scaled:'.length)) };
  });

const image = z.strictObject({
  argv: z
    .array(z.string())
    .min(1)
    .describe('program and arguments on this machine; `node` is the Node of the lab'),
  entrypoint: z
    .int()
    .min(0)
    .optional()
    .describe(
      'how many words of `argv` are the entrypoint; `args` of a container replaces the others. 1 unless given',
    ),
  env: z.record(z.string(), z.string()).optional().describe('variables of the image'),
  workdir: z.string().optional().describe('the folder it starts in'),
  user: z.int().min(0).optional().describe('number of its user, for `runAsNonRoot`; 0 unless given'),
  programs: z
    .record(z.string().startsWith('/', 'must begin with /'), z.string())
    .optional()
    .describe('paths inside of the image, and the programs of this machine that are there'),
  foreign: z
    .boolean()
    .optional()
    .describe('not a Node program: told its address by `bind`, and only in real time'),
  bind: z.array(z.string()).optional().describe('appended to the arguments; `{{wire}}` is the address of the pod'),
  needs: z
    .array(z.literal('namespace'))
    .optional()
    .describe('`[namespace]`: reads fixed paths, so it cannot run with rewritten ones'),
});

const cluster = z.strictObject({
  name: name.describe('of the cluster and its kubeconfig'),
  nodes: count.optional().describe('workers without a role: `w-1` and on'),
  controlPlane: count.optional().describe('nodes with the control-plane role and taint: `cp-1` and on'),
  workers: count.optional().describe('nodes with the worker role: `w-1` and on'),
  cloudProvider: z
    .literal('external')
    .optional()
    .describe('`external`: nodes wait for a cloud controller manager'),
  capacity: z
    .record(z.string(), quantity)
    .optional()
    .describe('what each node has; 4 processors, 16 GiB and room for 110 pods unless given'),
  kubeconfig: z.string().optional().describe('of an administrator of an API server that runs elsewhere'),
} satisfies Record<keyof ClusterSetup, z.ZodType>);

const cloud = z.strictObject({
  zones: z.array(name).min(1).optional().describe('names of its zones'),
  consistencyMs: milliseconds.optional().describe('how long reads may lag behind writes; 0 unless given'),
  quotas: z.record(z.string(), z.int().min(0)).optional().describe('how many of a kind there may be'),
} satisfies Record<keyof CloudSetup, z.ZodType>);

const metal = z.strictObject({
  updateMs: milliseconds
    .optional()
    .describe('how long an update of an installed cluster takes; 600000 unless given'),
} satisfies Record<keyof MetalSetup, z.ZodType>);

const scenario = z
  .strictObject({
    nodes: count.optional().describe('one cluster `lab` with so many nodes: the short form of `clusters`'),
    clusters: z.array(cluster).max(31).optional().describe('clusters, each with its API server and nodes'),
    cloud: z
      .union([z.boolean(), cloud])
      .optional()
      .describe('`true`, or how the cloud is to be; none unless given'),
    metal: z
      .union([z.boolean(), metal])
      .optional()
      .describe('`true`, or how it is to be: clusters can be installed on machines; none unless given'),
    images: z
      .record(z.string(), image)
      .optional()
      .describe(
        'programs that stand for images, by reference, for one tag or for all: their containers run as processes',
      ),
    unknownImages: z
      .enum(['simulate', 'fail'])
      .optional()
      .describe('containers of other images are simulated, or fail like an image that cannot be pulled'),
    isolation: z
      .enum(['auto', 'rewrite', 'namespace'])
      .optional()
      .describe(
        'how containers see volumes: mount namespaces, or paths rewritten; `auto` takes the best that works',
      ),
    network: z
      .enum(['auto', 'loopback', 'anyip', 'ports'])
      .optional()
      .describe('addresses of its own, a local route (needs root), or one address with many ports'),
    octet: z
      .int()
      .min(FIRST_OCTET)
      .max(LAST_OCTET)
      .optional()
      .describe('L of all addresses `10.L.a.b`; a free one unless given'),
    clock: clockMode.optional().describe('`real`, `scaled:N`, or `auto` (tests only); `real` unless given'),
    seed: z.int().min(0).optional().describe('same seed, same names, identifiers and accidents'),
    replace: z
      .partialRecord(z.enum(STAND_INS), z.literal('off'))
      .optional()
      .describe(`\`NAME: off\` leaves a part of Kubernetes to the real program: ${STAND_INS.join(', ')}`),
    data: z
      .string()
      .min(1)
      .optional()
      .describe('where everything is kept (tests only; `slipway up` has `--data`)'),
    crashLoopMaxMs: z
      .int()
      .min(1000)
      .max(300_000)
      .optional()
      .describe('longest wait before a crashing container is started again; 300000 unless given'),
    maxGraceMs: milliseconds
      .optional()
      .describe('no container gets more real time than this to end; what its pod says unless given'),
    maxChildren: z.int().min(1).max(10_000).optional().describe('live processes at most; 64 unless given'),
    // Whoever adds an option is told here; functions cannot be written into a file.
  } satisfies Record<Exclude<keyof LabOptions, 'inProcess'>, z.ZodType>)
  .refine((given) => given.nodes === undefined || given.clusters === undefined, {
    path: ['nodes'],
    message: 'is the short form of clusters: write one of the two',
  })
  .superRefine(({ clusters = [] }, context) => {
    for (const [at, { name: given }] of clusters.entries()) {
      if (clusters.findIndex((one) => one.name === given) === at) continue;
      context.addIssue({
        code: 'custom',
        path: ['clusters', at, 'name'],
        message: `${given} is the name of another cluster`,
      });
    }
  });

/** The library gives what we gave it, in the form that is the same for everybody. */
const SHAPE = z.toJSONSchema(scenario, { io: 'input' }) as unknown as Field;

/** What may be written, part by part: for the reference page. */
export const SCENARIO_PARTS = { scenario, clusters: cluster, cloud, metal, images: image } as const;

/**
 * The options in the text of a scenario file (B4). Throws one error with every problem: file and line, what is allowed,
 * what was meant.
 */
export function parseScenario(text: string, file: string): LabOptions {
  const yaml = located(text, file);
  return scenarioOptions(yaml.value ?? {}, (path) => `${file}:${yaml.lineOf(path)}`);
}

function located(text: string, file: string) {
  try {
    return parseLocatedYaml(text);
  } catch (cause) {
    throw userError('InvalidScenario', `${file}: ${messageOf(cause)}`, { cause });
  }
}

/** The options in a value. `placeOf` says where a part of it was written. */
export function scenarioOptions(value: unknown, placeOf: (path: readonly PropertyKey[]) => string): LabOptions {
  const result = scenario.safeParse(value);
  if (result.success) return withoutUndefined(result.data);
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, value));
  const lines = problems.map(({ path, text }) => `${placeOf(path)}: ${pathText(path) || 'the file'} ${text}`);
  throw userError('InvalidScenario', lines.toSorted(byLine).join('\n'));
}

/** `lab.yaml:10` is after `lab.yaml:9`. */
const byLine = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** Absent and undefined are the same in a file. */
const withoutUndefined = (options: object): LabOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

interface Problem {
  readonly path: readonly PropertyKey[];
  /** What follows the path. */
  readonly text: string;
}

function problemsOf(issue: z.core.$ZodIssue, given: unknown): readonly Problem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], text: unknownText(key, wordsAt(path)) }));
  const below = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined;
  if (below !== undefined)
    return below.flatMap((one) => problemsOf({ ...one, path: [...path, ...one.path] }, given));
  // A key of a map that is refused: what is wrong with it is said below.
  const { message } = (issue.code === 'invalid_key' ? issue.issues[0] : undefined) ?? issue;
  const found = valueAt(given, path);
  return [{ path, text: isOurs(message) ? message : (sizeProblem(issue) ?? valueProblem(path, found)) }];
}

/** Of the forms that a value may have, the one that somebody meant: its own form is right, and something in it wrong. */
const meantBranch = (branches: readonly (readonly z.core.$ZodIssue[])[]) =>
  branches.find((issues) => issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'));

/** The library's own begin with a capital letter. */
const isOurs = (message: string): boolean => /^[a-z]/.test(message);

/** Of what has the right form and is too small or too large; numbers have their range in {@link valueProblem}. */
function sizeProblem(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code === 'too_big') {
    if (issue.origin === 'array') return `must have at most ${issue.maximum} entries`;
    return issue.maximum === Number.MAX_SAFE_INTEGER ? `must be at most ${issue.maximum}` : undefined;
  }
  const isEmpty = issue.code === 'too_small' && (issue.origin === 'array' || issue.origin === 'string');
  return isEmpty ? 'must not be empty' : undefined;
}

function unknownText(key: string, known: readonly string[]): string {
  const meant = nearestWord(key, known);
  return `is unknown: ${meant === undefined ? `allowed are ${known.join(', ')}` : `did you mean ${meant}?`}`;
}

const wordsAt = (path: readonly PropertyKey[]): readonly string[] => {
  const field = fieldAt(SHAPE, path);
  return field === undefined ? [] : wordsOf(field);
};

function valueProblem(path: readonly PropertyKey[], found: unknown): string {
  const field = fieldAt(SHAPE, path) ?? {};
  const allowed = allowedText(field);
  return found === undefined ? `is missing: it must be ${allowed}` : `must be ${allowed}, not ${shown(found)}`;
}

const LONGEST = 60;

function shown(found: unknown): string {
  const text = typeof found === 'number' ? String(found) : JSON.stringify(found);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key], value);

const pathText = (path: readonly PropertyKey[]): string => path.map(String).join('.');
